// Whatever the annotations say: no number is made up, nothing is published beside a problem, and what is published can
// be served.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "dns/policy.h"
#include "source/annotations.h"

namespace fairlead::source {
namespace {

constexpr const char* names[] = {"hostname",     "internal-hostname", "target",         "ttl",        "weight",
                                 "weight-scope", "weight-suffix",     "set-identifier", "aws-weight", "aws-region",
                                 "alias",        "controller",        "unknown"};
constexpr const char* values[] = {"",          "0",           "10",       "255",  "256",         "-1",
                                  "heavy",     "cluster",     "global",   "a",    "www.example", "a.b,c.d",
                                  "192.0.2.1", "2001:db8::1", "10m",      "a..b", "true",        "dns-controller",
                                  "cluster/a", "x y",         "*.example"};

rc::Gen<std::map<std::string, std::string>> annotations() {
    const auto key = rc::gen::apply(
        [](bool alpha, const char* name) {
            return std::string(alpha ? "external-dns.alpha.kubernetes.io/" : "external-dns.kubernetes.io/") + name;
        },
        rc::gen::arbitrary<bool>(), rc::gen::elementOf(std::vector<const char*>(std::begin(names), std::end(names))));
    const auto value =
        rc::gen::oneOf(rc::gen::map(rc::gen::elementOf(std::vector<const char*>(std::begin(values), std::end(values))),
                                    [](const char* text) { return std::string(text); }),
                       rc::gen::string<std::string>());
    return rc::gen::container<std::map<std::string, std::string>>(key, value);
}

resource::Service service(std::map<std::string, std::string> with) {
    resource::Service made;
    made.metadata.name = "web";
    made.metadata.namespace_ = "shop";
    made.metadata.annotations = std::move(with);
    made.spec.type = "LoadBalancer";
    made.spec.cluster_ip = "10.0.0.1";
    made.spec.external_ips = {"192.0.2.1"};
    return made;
}

RC_GTEST_PROP(SourceProperty, PublishesOnlyWhatIsSound, ()) {
    const auto reading = read(service(*annotations()));
    RC_ASSERT(reading.problems.empty() || reading.endpoints.empty());
    RC_ASSERT(reading.concerned || (reading.endpoints.empty() && reading.problems.empty()));
    for (const auto& set : reading.endpoints) {
        RC_ASSERT(dns::Name::parse(set.dns_name).has_value());
        RC_ASSERT(!set.targets.empty());
        RC_ASSERT(!set.ttl || *set.ttl >= 1);
        RC_ASSERT(dns::policy_of(set).has_value());
    }
}

// A weight that is published is the one that was written, digit by digit: never 0 for something else.
RC_GTEST_PROP(SourceProperty, NoWeightIsMadeUp, (const std::string& text)) {
    const std::string prefix = "external-dns.alpha.kubernetes.io/";
    const auto reading = read(service({{prefix + "hostname", "www.example.com"},
                                       {prefix + "weight", text},
                                       {prefix + "weight-scope", "cluster"},
                                       {prefix + "weight-suffix", "a"}}));
    const auto number = parse_int(text);
    if (text.empty()) {
        RC_ASSERT(reading.endpoints.size() == 1U && reading.endpoints[0].set_identifier.empty());
    } else if (!number || *number < 0 || *number > 255) {
        RC_ASSERT(reading.endpoints.empty());
        RC_ASSERT(reading.problems.size() == 1U);
    } else {
        RC_ASSERT(reading.endpoints.size() == 1U);
        RC_ASSERT(reading.endpoints[0].set_identifier == "cluster/a");
        RC_ASSERT(reading.endpoints[0].properties == (std::vector<dns::Property>{{"weight", text}}));
    }
}

}  // namespace
}  // namespace fairlead::source
