// The Kubernetes-style API over the store: routes requests to discovery, OpenAPI, health, metrics and the REST verbs.
// handle() is called on session threads and never blocks; the verbs run on the worker pool (they wait for commits),
// watches are pulled on their session's thread. The verbs themselves are synchronous functions (rest.h, watch.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/endpoint.h"
#include "apiserver/receptor/options.h"
#include "base/fwd.h"
#include "net/http.h"
#include "resource/fwd.h"
#include "store/fwd.h"

namespace fairlead::apiserver {

class AuditLog;
class TokenFile;

struct ApiOptions {
    std::string version = "0.1.0";
    std::size_t workers = 64;         // requests in progress; each may wait for the same group commit
    std::size_t max_waiting = 1'000;  // requests that wait for a worker; more get 429
    // Bodies above this are parsed by few threads: an object takes up to 16 times its text in memory, and a flood of
    // large ones must not keep small ones waiting.
    std::size_t large_body_bytes = 256UL * 1024;
    std::size_t large_workers = 4, max_waiting_large = 64;
    std::size_t max_watches = 15'000;  // 3/4 of the HTTP server's connections, so that others get in
    std::size_t max_watches_per_user = 7'500;
    std::size_t stream_lists_from = 1UL * 1024 * 1024;  // longer lists are rendered while they are sent
    bool insecure_allow_all = false;                    // tests of semantics without TLS: every caller is the admin
    // Whoever serves a balancer knows by them that nothing is left of who is gone: somebody may be waiting for it.
    std::chrono::seconds bookmark_interval{5};
    std::chrono::seconds recheck_interval{15};  // how often an open watch asks whether its caller still may
    receptor::FrontOptions receptor{};          // of /v1/
    // Both belong to the caller and outlive the server; null = none.
    TokenFile* token_file = nullptr;
    AuditLog* audit = nullptr;
};

class ApiServer final : public net::Handler {
public:
    ApiServer(ApiOptions options, const resource::Kinds& kinds, store::Store& store, const Clock& clock, Random& random,
              Log& log, Metrics& metrics);
    ~ApiServer() override;

    void handle(net::Request request, net::Respond respond) override;

    // A named check of /readyz; nothing = fine, else why not. Before serving only.
    void add_ready_check(std::string name, std::function<std::optional<std::string>()> check);
    // GET of `path`, or of everything below it if it ends with a slash; or all methods. Before serving only.
    enum class Methods { read, all };
    void add_endpoint(std::string path, Endpoint endpoint, Methods methods = Methods::read);
    // What is due from time to time: the token file is read again if it changed, expired tokens are removed. Called
    // every few seconds by one thread; may wait for the disk.
    void maintain();

    // From now on /readyz says no, watches end cleanly, and new requests are refused with 503.
    void drain();

    // How the HTTP layer words its own refusals.
    static net::Response error_response(int status, std::string message, std::string_view target = "");

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::apiserver
