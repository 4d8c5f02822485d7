// Domains: who has told all that he wants to run, and until when that counts. Each is a Lease, so that other processes
// can see which are fresh.
#include <fmt/core.h>

#include <limits>
#include <set>

#include "apiserver/object_bytes.h"
#include "apiserver/receptor/receptor.h"
#include "base/text.h"
#include "json/quote.h"
#include "resource/kinds/lrp.h"

namespace fairlead::apiserver::receptor {

namespace {

constexpr std::size_t max_domain_bytes = 253;  // as DesiredLRP.spec.domain

// Seconds; 0 = for ever, as without the header.
Result<std::int64_t> max_age_of(const net::Headers& headers) {
    constexpr std::string_view directive = "max-age=";
    bool sent = false;
    for (const auto& [name, value] : headers.items()) {
        if (!equal_ignoring_case(name, "Cache-Control")) continue;
        sent = true;
        for (auto part : split(value, ',')) {
            part = trim(part);
            if (!equal_ignoring_case(part.substr(0, directive.size()), directive)) continue;
            const auto text = part.substr(directive.size());
            const auto seconds = parse_int(text);
            if (seconds && *seconds >= 0 && *seconds <= std::numeric_limits<std::int32_t>::max()) return *seconds;
            return fail(Errc::invalid,
                        fmt::format("max-age '{}' in the Cache-Control header is no number of seconds in "
                                    "0..2147483647",
                                    text));
        }
    }
    if (sent) return fail(Errc::invalid, "max-age directive missing from the Cache-Control header");
    return 0;
}

bool fresh(const json::Value& lease, WallTime now) {
    const auto seconds = json::int_at(lease, "spec.leaseDurationSeconds");
    if (!seconds) return true;
    const auto renewed = from_rfc3339(json::string_at(lease, "spec.renewTime"));
    return renewed && now < *renewed + std::chrono::seconds(*seconds);
}

}  // namespace

Answer Receptor::put_domain(const std::string& domain, const net::Headers& headers, const Caller& caller) {
    const auto seconds = max_age_of(headers);
    if (!seconds) return invalid_request(seconds.error().text());
    if (domain.size() > max_domain_bytes) {
        return problem(400, "InvalidDomain",
                       fmt::format("Invalid field: domain ({} bytes, more than {})", domain.size(), max_domain_bytes));
    }
    json::Object spec{{"holderIdentity", json::String(caller.user.name)}, {"renewTime", rfc3339_micros(clock_.now())}};
    if (*seconds > 0) spec["leaseDurationSeconds"] = *seconds;
    const std::string mark(resource::domain_mark);
    BatchWrite write;
    write.name = domain_lease_name(domain);
    write.object = json::Object{{"apiVersion", leases_.api_version()},
                                {"kind", leases_.name},
                                {"metadata", json::Object{{"name", write.name},
                                                          {"labels", json::Object{{mark, "true"}}},
                                                          {"annotations", json::Object{{mark, domain}}}}},
                                {"spec", std::move(spec)}};
    if (auto missing = ensure_namespace()) return std::move(*missing);
    const auto replies = rest_.write_many(leases_, namespace_, {write}, query(caller));
    return replies.front().code < 300 ? Answer{.code = 204} : problem_of(replies.front());
}

Answer Receptor::list_domains() {
    const auto snapshot = store_.snapshot(leases_.table());
    if (!snapshot) return problem_of(from_error(snapshot.error()));
    std::set<std::string> names;
    snapshot->scan(namespace_ + "/domain-", "", [&](const store::ObjectRef& object) {
        const auto lease = parse_object(*object);
        const auto* annotations = lease ? json::find(*lease, "metadata.annotations") : nullptr;
        if (annotations == nullptr || !annotations->is_object() || !fresh(*lease, clock_.now())) return true;
        const auto* domain = annotations->get_object().if_contains(resource::domain_mark);
        if (domain != nullptr && domain->is_string()) names.emplace(json::view(domain->get_string()));
        return true;
    });
    std::string body = "[";
    for (const auto& name : names) {
        if (body.size() > 1) body += ',';
        json::append_quoted(name, body);
    }
    return json(200, body + "]");
}

}  // namespace fairlead::apiserver::receptor
