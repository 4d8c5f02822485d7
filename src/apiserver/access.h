// Who calls, and what he may do: the one place that every request passes. Certificates, tokens, impersonation, then the
// roles. Thread-safe; called on session threads, so it works from memory alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/attributes.h"
#include "apiserver/authorizer.h"
#include "apiserver/caller.h"
#include "apiserver/request_info.h"
#include "apiserver/status.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "net/http.h"
#include "store/fwd.h"

namespace fairlead::apiserver {

class TokenFile;

// Who every caller is when the server is told not to ask (tests of semantics without TLS).
User admin_user();
// Who the server itself is when it writes through the API: default roles, the removal of expired tokens.
User server_user();

// Open to everybody: health and version.
bool open_path(std::string_view path);

// What a request wants to do. A list or watch of one name (fieldSelector metadata.name=x) is about that name.
Attributes attributes_of(const RequestInfo& info, std::string_view method, const QueryOptions& options);

// 403 in the words of kube-apiserver.
Status refused_access(const User& user, const Attributes& attributes, std::string_view reason);

// Only what shows who calls: what is kept while a watch lives.
net::Request credentials_of(const net::Request& request);

// A token that is shown with the name of its holder (Basic credentials of the Receptor API); an empty name is
// anybody's.
struct Login {
    std::string user{}, token{};
};

struct Verdict {
    std::optional<User> user;       // who acts; nothing for a caller without credentials
    std::optional<User> behind;     // who called, if he acts as somebody else
    std::optional<Status> refusal;  // 401 or 403
    std::string reason;             // for the audit log
};

class Access {
public:
    struct Options {
        const TokenFile* token_file = nullptr;
        bool allow_all = false;
    };
    Access(Options options, store::Store& store, const Clock& clock, Log& log, Metrics& metrics);

    // Of a request that came in; counted. `login` counts beside what the request itself shows; null = none.
    Verdict check(const net::Request& request, const Attributes& attributes, const Login* login = nullptr);
    // Who it is, for what everybody may who is known; counted. A stranger is refused.
    Verdict identify(const net::Request& request, const Login* login = nullptr);
    // Whether a request that was let in would be let in now; not counted.
    bool still_allowed(const net::Request& request, const Attributes& attributes, const Login* login = nullptr);
    // The holder of a token; nothing if it is no good.
    std::optional<User> user_of(std::string_view token) const;
    Authorizer& authorizer() { return authorizer_; }

private:
    // Nothing and no refusal: no credentials were shown. Fills user, reason and refusal.
    Verdict authenticate(const net::Request& request, const Login* login) const;
    void count(const Verdict& verdict);
    void impersonate(const net::Request& request, Verdict& verdict);
    // True if the roles have to be asked; else the verdict is complete.
    bool judge_caller(const net::Request& request, const Attributes& attributes, Verdict& verdict);

    Options options_;
    store::Store& store_;
    const Clock& clock_;
    Authorizer authorizer_;
    Counter known_, unknown_, failed_;
    Counter allowed_, denied_;
    Histogram decision_seconds_;
};

}  // namespace fairlead::apiserver
