// The server's identity in the data dir: a CA, a server certificate and an admin's client certificate and kubeconfig.
// Made at the first start, renewed before they expire or when the addresses change. Called once, before serving.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/fwd.h"
#include "base/result.h"

namespace fairlead::apiserver {

struct Identity {
    std::filesystem::path ca_certificate, server_certificate, server_key;  // <data dir>/pki/*.crt, *.key
    std::filesystem::path admin_certificate, admin_key;
};

// `names` are the DNS names and addresses under which clients reach this server.
Result<Identity> ensure_identity(const std::filesystem::path& data_dir, const std::vector<std::string>& names,
                                 const Clock& clock, Random& random, Log& log);

// Names for a server that listens on `host`: the host itself, localhost and its addresses, this machine's name, and for
// a wildcard address every address of this machine.
std::vector<std::string> server_names(const std::string& host);

// Writes <data dir>/admin.kubeconfig (0600) for the server at `url`, everything embedded, so that it can be copied.
Result<std::filesystem::path> write_admin_kubeconfig(const std::filesystem::path& data_dir, const Identity& identity,
                                                     const std::string& url);

}  // namespace fairlead::apiserver
