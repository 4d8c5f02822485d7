// Whose requests they are: keys from a Secret, or, where the operator allows it, from the surroundings of the server as
// AWS's own tools find them. One object per client of a service, used by one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "aws/signer.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "net/client.h"

namespace fairlead::aws {

struct Credentials {
    SigningKeys keys;
    std::optional<WallTime> expires;
    std::string source;  // "Secret", "environment", "profile default", "container", "instance": never a secret
};

// A variable of the environment; nothing: it is not set.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
// A call to a server of credentials: its address without a path, and the request.
using CredentialCall = std::function<Result<net::Response>(const std::string& base_url, const net::ClientRequest&)>;

// The variable as getenv gives it.
std::optional<std::string> process_environment(const std::string& name);
// By a client of its own, with the short time limits that link-local servers need.
Result<net::Response> credential_call(const std::string& base_url, const net::ClientRequest& request);

class CredentialChain {
public:
    struct Options {
        std::map<std::string, std::string> secret;
        std::string profile;   // asked for by name; empty: AWS_PROFILE, or "default"
        bool ambient = false;  // whether anything but the Secret counts
        Environment environment = process_environment;
        CredentialCall call = credential_call;
        std::string instance_endpoint = "http://169.254.169.254";
        std::string container_endpoint = "http://169.254.170.2";
        // For errors: the settings that name the Secret and the profile, and what it would take to lend the server's
        // own ("to this zone: that takes ...").
        std::string secret_field = "secret", profile_field = "profile", lending{};
    };
    CredentialChain(Options options, const Clock& clock) : options_(std::move(options)), clock_(&clock) {}

    // Those of the last time, unless they end soon or their file has changed. Errors: invalid (what is missing, and
    // where it was looked for), unavailable (the server of credentials).
    Result<Credentials> get();
    // What AWS says that it does not take any more.
    void drop() { current_.reset(); }

private:
    [[nodiscard]] bool fresh() const;
    Result<Credentials> find();
    Result<std::optional<Credentials>> of_secret() const;
    Result<std::optional<Credentials>> of_environment() const;
    Result<std::optional<Credentials>> of_profile();
    Result<std::optional<Credentials>> of_container() const;
    Result<std::optional<Credentials>> of_instance() const;
    [[nodiscard]] std::string variable(const std::string& name) const;

    Options options_;
    const Clock* clock_;
    std::optional<Credentials> current_;
    std::string file_, stamp_;  // the profile file, and how it was when it was read
};

// The section of a profile in a file of shared credentials. Errors: not_found, invalid (says the line).
Result<SigningKeys> parse_profile(std::string_view text, std::string_view profile);

}  // namespace fairlead::aws
