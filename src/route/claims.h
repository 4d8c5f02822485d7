// Who has a host: of several Routes the oldest, and with it its namespace has the host with all its paths. Pure; used
// by the controller route_admission, which asks about one host at a time. The rules are OpenShift's:
//
// - Order: created, then uid. A claim is refused if it excludes an older one that is not refused itself.
// - Different namespaces exclude each other on one host, whatever their paths. If the routers of both allow it
//   (`shared`), only on the same host and path.
// - Within a namespace the same host and path is the oldest's; other paths live together. A passthrough claim and
//   another one with TLS exclude each other on one host, because who ends TLS is decided before the path is known.
// - A wildcard claim on www.acme.test asks for *.acme.test, one level, not acme.test. It and the exact hosts below
//   acme.test exclude each other in different namespaces, and live together in one, where the exact host is served.
//
// A ClaimBook is used by one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::route {

// A Route that wants a host. Order: system names first, then created, then uid.
struct Claim {
    std::string key;  // "namespace/name"
    std::string namespace_, created, uid;
    std::string host, path;  // the final name, lower case
    // The name that its router gives to its namespace (<namespace>-<host>): before all others, so that nobody takes
    // what is another namespace's by asking for it as a name of his own.
    bool system = false;
    bool wildcard = false;  // wants every host beside it too: "*." and the parent of host
    bool passthrough = false, tls = false;
    bool shared = false;                             // its router allows several namespaces on one host
    auto operator<=>(const Claim&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

enum class Ownership {
    strict,           // the namespace of the oldest has the host with all its paths
    inter_namespace,  // each host and path is the oldest's
};

struct Refusal {
    std::string reason;   // "HostAlreadyClaimed"
    std::string message;  // names no other namespace
    bool operator==(const Refusal&) const = default;
};

// "acme.test" of "www.acme.test"; empty of a name with one label.
std::string_view parent_of(std::string_view host);
// "*.acme.test" of "www.acme.test".
std::string wildcard_above(std::string_view host);
// What a claim is about: "www.acme.test", or "*.acme.test" of a wildcard.
std::string subject_of(const Claim& claim);
// Whether the subject is the other, or a wildcard that the other lies below.
bool covers(std::string_view subject, std::string_view other);
// Whether the two may not both be admitted.
bool excludes(const Claim& one, const Claim& other);

// All claims there are, found by what they are about. A subject costs what stands on it: its own claims, the wildcards
// above it, and for a wildcard one look per namespace below it.
class ClaimBook {
public:
    ClaimBook();
    ~ClaimBook();
    ClaimBook(const ClaimBook&) = delete;
    ClaimBook& operator=(const ClaimBook&) = delete;

    // Replaces the claims of a Route (each with its key; a host at most once); none: it is gone. Gives the subjects
    // whose verdicts may have changed.
    std::set<std::string> set(const std::string& key, std::vector<Claim> claims);
    [[nodiscard]] const std::vector<std::unique_ptr<const Claim>>& of(const std::string& key) const;
    // Routes with a claim on the subject, the oldest first.
    [[nodiscard]] std::vector<std::string> claimants(const std::string& subject) const;

    struct Verdict {
        const Claim* claim = nullptr;    // until the next set()
        const Claim* rival = nullptr;    // likewise; who has it, if this one is refused
        std::optional<Refusal> refusal;  // none: admitted
    };
    // The oldest first.
    [[nodiscard]] std::vector<Verdict> verdicts(const std::string& subject) const;
    // Of one claim. Nothing on record: refused.
    [[nodiscard]] std::optional<Refusal> refusal(const std::string& key, const std::string& subject) const;
    // The claims that may not be admitted beside this one, whoever is older.
    [[nodiscard]] std::vector<const Claim*> rivals(const Claim& claim) const;

    [[nodiscard]] std::size_t size() const;  // claims

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Of these claims: who is refused, by key; the others are admitted. In any order. For one claim per key.
std::map<std::string, Refusal> refused(std::vector<Claim> claims, Ownership ownership);

}  // namespace fairlead::route
