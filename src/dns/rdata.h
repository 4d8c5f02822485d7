// The data of one record: from the text that people write (RFC 1035 master files) to wire form without compression, and
// back. Two texts that mean the same give the same bytes. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "dns/record_type.h"

namespace fairlead::dns {

// "192.0.2.1", "10 mail.example.com", "0 issue \"ca.example\"", "1 . alpn=h2,h3", ... A TXT text that does not begin
// with a quote is one string as it stands, of any length. Errors: invalid, saying value and rule.
Result<std::string> parse_rdata(RecordType type, std::string_view text);

// As `dig` and master files show it. `wire` comes from parse_rdata, or was checked in the same way.
std::string rdata_text(RecordType type, std::string_view wire);

}  // namespace fairlead::dns
