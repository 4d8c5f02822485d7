// BIND, Knot and PowerDNS with zones that take updates signed with one key, for tests of the provider rfc2136.
#pragma once

#include <string>
#include <vector>

#include "provider/provider.h"
#include "provider/real/processes.h"

namespace fairlead::provider {

enum class Software { bind, knot, powerdns };
std::string software_text(Software software);

inline constexpr const char* key_name = "update.key";
inline constexpr const char* key_secret = "c2VjcmV0IG9mIGEgdGVzdCwgMzIgYnl0ZXMgbG9uZyE=";
inline constexpr const char* other_secret = "b3RoZXIgc2VjcmV0IG9mIGEgdGVzdCwgMzIgYnl0ZXM=";

class NameServer {
public:
    // `zones`: "create.example", ... each with SOA, NS and an address of that.
    NameServer(Software software, std::string algorithm, std::vector<std::string> zones);
    void start();
    void stop() { process_.stop(); }
    [[nodiscard]] bool available() const;
    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::string log() const { return dir_.read("log"); }

    // Settings for a zone of it.
    [[nodiscard]] ZoneSettings settings(const std::string& zone) const;
    // Somebody else's change: lines of nsupdate without server, zone and send.
    void edit(const std::string& zone, const std::string& script) const;

private:
    void configure_bind();
    void configure_knot();
    void configure_powerdns();

    Software software_;
    std::string algorithm_;
    std::vector<std::string> zones_;
    TempDir dir_;
    int port_;
    Process process_;
};

}  // namespace fairlead::provider
