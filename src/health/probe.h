// One question to one address: what is asked, and what came back. Values, and who carries it out.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::health {

enum class Protocol { http, https, tcp };

// What is checked, and how. Equal probes are one: whoever else wants the same shares its result.
struct Probe {
    std::string address;  // IP address, or a host name: it is good if one of the addresses behind it is
    std::uint16_t port = 0;
    Protocol protocol = Protocol::https;
    std::string host;  // for Host and SNI
    std::string path = "/";
    std::vector<std::int32_t> expected_codes;  // empty: any 2xx
    std::vector<std::pair<std::string, std::string>> headers;
    std::chrono::milliseconds interval{10'000}, timeout{3'000};
    std::int32_t failure_threshold = 3;
    auto operator<=>(const Probe&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Answer {
    bool good = false;
    std::string text;  // "HTTP 503", "connection refused", "no answer within 3s", "certificate has expired"
    // False: a shortage of our own kept the question from being asked, so this says nothing about the address.
    bool asked = true;
    bool operator==(const Answer&) const = default;
};

class Prober {
public:
    virtual ~Prober() = default;
    // Does not block. `done` is called exactly once, from any thread, after probe.timeout at the latest (or a moment
    // later); not any more once the Prober is gone.
    virtual void probe(const Probe& probe, std::function<void(Answer)> done) = 0;
};

}  // namespace fairlead::health
