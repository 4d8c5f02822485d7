// HTTP as values: what a request is, what an answer is, and who produces answers. No sockets here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::net {

// In the order they came; names compare without case.
class Headers {
public:
    Headers() = default;
    Headers(std::initializer_list<std::pair<std::string, std::string>> items) : items_(items) {}
    // The first with that name, or "".
    [[nodiscard]] std::string_view get(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const;
    void set(std::string name, std::string value);  // replaces
    void add(std::string name, std::string value);
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }

private:
    std::vector<std::pair<std::string, std::string>> items_;
};

// Who is at the other end, as far as the transport can tell.
struct Peer {
    std::string address;  // "127.0.0.1:40312"
    // From a client certificate that our CA signed: subject CN, and each O. Empty name = none was shown.
    std::string certificate_name;
    std::vector<std::string> certificate_groups;
    std::string certificate_problem;  // why a certificate that was shown does not count; empty = none or a good one
};

struct Request {
    std::string method;
    std::string target;  // path and query as sent
    Headers headers;
    std::string body;
    Peer peer;
    std::string id;  // unique per request, in logs and in the X-Request-Id answer header
};

// A body that goes on: pulled by the session on its own thread whenever the last bytes are written.
class StreamBody {
public:
    enum class Next {
        data,  // bytes were appended to `out`
        wait,  // nothing now; pull again after a wake
        end,   // appended bytes (if any) are the last
    };
    virtual ~StreamBody() = default;
    // Called once before the first pull. `wake` may be called from any thread, also after the stream ended; it is cheap
    // when the stream is awake already.
    virtual void start(std::function<void()> wake) = 0;
    virtual Next pull(std::string& out) = 0;
};

struct Response {
    int status = 200;
    Headers headers;
    std::string body;
    std::unique_ptr<StreamBody> stream;  // instead of a body: chunked
    // The session may gzip the body when the client takes it and the body is large (see ServerOptions).
    bool compressible = false;
};

using Respond = std::function<void(Response)>;  // call exactly once, from any thread

class Handler {
public:
    virtual ~Handler() = default;
    // Called on a session's thread: must not block. The request is complete, the body within limits.
    virtual void handle(Request request, Respond respond) = 0;
};

std::string_view status_text(int status);

}  // namespace fairlead::net
