// Turns bytes into requests, with limits. Pure: no sockets, no clock. request_parser.cpp is the home of Beast.
// Used by the session, one request at a time; a parser is good for one request and then replaced.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"

namespace fairlead::net {

struct ParserLimits {
    std::size_t header_bytes;
    std::size_t body_bytes;
};

class RequestParser {
public:
    enum class State {
        empty,   // not one byte of a request yet
        header,  // inside the headers
        body,    // headers are complete, the body is not
        complete,
        failed,  // see failure(); the connection cannot be used for further requests
    };
    struct Failure {
        int status = 0;  // 400, 413, 414, 417, 431 or 501
        std::string message;
    };

    explicit RequestParser(ParserLimits limits);
    ~RequestParser();
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;

    // Takes bytes from the front and says how many. What was not taken must be given again, with more behind it.
    std::size_t feed(std::string_view bytes);

    [[nodiscard]] State state() const;
    [[nodiscard]] const Failure& failure() const;
    // From State::body on:
    [[nodiscard]] bool keep_alive() const;            // HTTP/1.1 without Connection: close
    [[nodiscard]] bool http_1_0() const;              // no chunked answers
    [[nodiscard]] const std::string& target() const;  // of a request that failed, too, if its first line was read
    [[nodiscard]] bool expects_continue() const;      // Expect: 100-continue
    // Method, target, headers and body, once complete. Trailers are checked and dropped.
    Request take();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::net
