// The geo table that workers read: replaced when the file changes, without a query waiting. Null inside: none is
// configured, and every client is at a place that is not known.
#pragma once

#include <memory>

#include "dnsserver/published.h"
#include "geo/table.h"

namespace fairlead::dnsserver {

using Places = Published<std::shared_ptr<const geo::Table>>;

}  // namespace fairlead::dnsserver
