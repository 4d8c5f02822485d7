// HostClaims: of several Routes that claim one host, the oldest has it. The others learn why not.
#pragma once

#include <string>
#include <vector>

#include "control/context.h"
#include "resource/kinds/route.h"

namespace fairlead::example {

// Who claims a host, and since when.
struct Claim {
    std::string key;      // "namespace/name"
    std::string created;  // RFC 3339, so that texts compare as times do
};
// The key of the oldest; the first by name among equals. Pure.
std::string winner(const std::vector<Claim>& claims);

class HostClaims final : public control::Reconciler {
public:
    explicit HostClaims(control::Context& context);
    // The key is a host.
    Result<control::Again> reconcile(const control::Key& host) override;

private:
    Result<void> tell(const std::string& key, const std::string& winner);

    control::Context& context_;
    control::View<resource::Route>& routes_;
    const control::Index& by_host_;
};

}  // namespace fairlead::example
