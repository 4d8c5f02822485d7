// The provider "webhook": a zone behind any webhook provider of external-dns, or behind external-dns itself
// (--webhook-server). We keep planning and ownership; the webhook lists, adjusts and applies. The protocol has no
// result per record, no paging and no check of what is there: a batch that is refused is split until what is wrong
// stands alone. Credentials of the zone's Secret, all optional: `token` (bearer), `ca.crt`, `tls.crt` and `tls.key`.
#pragma once

#include "provider/provider.h"

namespace fairlead::provider::webhook {

struct Limits {
    std::size_t batch_groups = 500;
    std::size_t batch_bytes = 8UL * 1024 * 1024;
    std::size_t adjusted = 200'000;  // endpoints that are remembered as the webhook spells them
    unsigned tries = 5;              // of the negotiation, as external-dns does
    std::chrono::milliseconds first_pause{500};
    // So many failures in a row without a success say that the webhook is down, not that a record is wrong.
    unsigned failures_in_a_row = 8;
};

// Errors of what it makes: invalid; the field is "spec.webhook.url" or "spec.dnsProviderSecretRef".
Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings, const Surroundings& around,
                                       const Limits& limits = {});
Providers::Make maker(const Surroundings& around);

}  // namespace fairlead::provider::webhook
