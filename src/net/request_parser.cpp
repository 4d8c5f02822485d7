#include "net/request_parser.h"

#include <fmt/core.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>

#include "base/text.h"

namespace fairlead::net {

namespace http = boost::beast::http;
using boost::beast::error_code;
using View = boost::beast::string_view;

namespace {

constexpr std::size_t max_fields = 256;  // kubectl sends about ten

// Fills a Request straight from Beast's callbacks, without Beast's own message types in between.
class BeastParser final : public http::basic_parser<true> {
public:
    Request request;
    int version = 11;
    int hosts = 0;
    bool has_transfer_encoding = false;

private:
    bool in_body_ = false;

    void on_request_impl(http::verb, View method, View target, int number, error_code&) override {
        request.method.assign(method.data(), method.size());
        request.target.assign(target.data(), target.size());
        version = number;
    }
    void on_response_impl(int, View, int, error_code&) override {}
    void on_field_impl(http::field field, View name, View value, error_code& error) override {
        if (in_body_) return;  // a trailer must not pass for a header (think of Authorization)
        if (field == http::field::transfer_encoding) has_transfer_encoding = true;
        if (field == http::field::host) ++hosts;
        // A field of four bytes costs a hundred in memory.
        if (request.headers.items().size() == max_fields) {
            error = http::error::header_limit;
            return;
        }
        request.headers.add(std::string(name), std::string(value));
    }
    void on_header_impl(error_code&) override { in_body_ = true; }
    void on_body_init_impl(const boost::optional<std::uint64_t>& size, error_code&) override {
        // Not all at once: the client has only promised that many bytes so far.
        constexpr std::uint64_t at_first = 64UL * 1024;
        if (size) request.body.reserve(static_cast<std::size_t>(std::min(*size, at_first)));
    }
    std::size_t on_body_impl(View bytes, error_code&) override {
        request.body.append(bytes.data(), bytes.size());
        return bytes.size();
    }
    void on_chunk_header_impl(std::uint64_t, View, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, View bytes, error_code&) override {
        request.body.append(bytes.data(), bytes.size());
        return bytes.size();
    }
    void on_finish_impl(error_code&) override {}
};

}  // namespace

class RequestParser::Impl {
public:
    explicit Impl(ParserLimits limits) : limits_(limits) {
        beast_.header_limit(static_cast<std::uint32_t>(
            std::min<std::size_t>(limits.header_bytes, std::numeric_limits<std::uint32_t>::max())));
        beast_.body_limit(limits.body_bytes);
    }

    std::size_t feed(std::string_view bytes) {
        std::size_t taken = 0;
        if (state_ == State::empty) {
            // RFC 9112 2.2: empty lines before a request are ignored.
            while (taken < bytes.size() && (bytes[taken] == '\r' || bytes[taken] == '\n')) ++taken;
            if (taken < bytes.size()) state_ = State::header;
        }
        while (taken < bytes.size() && (state_ == State::header || state_ == State::body)) {
            error_code ec;
            const auto rest = bytes.substr(taken);
            // From any point in a chunked body at least "0\r\n\r\n" is to come; Beast asserts on less of it.
            if (state_ == State::body && beast_.chunked() && rest.size() < 5) break;
            const auto count = beast_.put(boost::asio::const_buffer(rest.data(), rest.size()), ec);
            taken += count;
            const bool starved = ec == http::error::need_more;
            if (ec && !starved) {
                refuse(ec, rest);
                break;
            }
            advance(count, starved ? rest.substr(count) : std::string_view());
            if (starved) break;
        }
        return taken;
    }

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] const Failure& failure() const { return failure_; }
    [[nodiscard]] bool keep_alive() const { return beast_.version == 11 && beast_.keep_alive(); }
    [[nodiscard]] bool http_1_0() const { return beast_.version != 11; }
    [[nodiscard]] const std::string& target() const { return beast_.request.target; }
    [[nodiscard]] bool expects_continue() const { return expects_continue_; }
    Request take() { return std::move(beast_.request); }

private:
    // `waiting`: seen, but Beast wants more before it takes them.
    void advance(std::size_t taken, std::string_view waiting) {
        if (state_ == State::header) {
            // Beast counts its limit anew after each field that it takes, so the sum is ours to keep.
            header_bytes_ += taken;
            if (header_bytes_ + waiting.size() > limits_.header_bytes)
                return refuse(http::error::header_limit, waiting);
            if (!beast_.is_header_done()) return;
            check_header();
            if (state_ == State::failed) return;
            state_ = State::body;
        } else if (waiting.size() > limits_.header_bytes) {
            // Only chunk headers and trailers are not taken at once; Beast has no limit for them.
            return refuse(http::error::header_limit, waiting);
        }
        if (beast_.is_done()) state_ = State::complete;
    }

    void check_header() {
        if (beast_.hosts > 1 || (beast_.hosts == 0 && beast_.version == 11)) {
            return refuse(400, fmt::format("{} Host headers: exactly one is required", beast_.hosts));
        }
        // Ignoring an encoding we do not know would read the body as the next request.
        if (beast_.has_transfer_encoding && (!beast_.chunked() || beast_.version != 11)) {
            return refuse(501, fmt::format("Transfer-Encoding {} is not supported: chunked is",
                                           beast_.request.headers.get("Transfer-Encoding")));
        }
        const auto expect = beast_.request.headers.get("Expect");
        if (expect.empty() || beast_.version != 11) return;
        if (!equal_ignoring_case(expect, "100-continue")) {
            return refuse(417, fmt::format("Expect: {} is not supported: 100-continue is", expect));
        }
        expects_continue_ = true;
    }

    // `at`: the bytes that were too many, or wrong.
    void refuse(const error_code& ec, std::string_view at) {
        if (ec == http::error::header_limit) {
            if (state_ == State::header && header_bytes_ == 0 && at.find('\n') == std::string_view::npos) {
                return refuse(414, fmt::format("the request's target is larger than {} bytes", limits_.header_bytes));
            }
            return refuse(431, fmt::format("the request's headers are larger than {} bytes or more than {} fields",
                                           limits_.header_bytes, max_fields));
        }
        if (ec == http::error::body_limit) {
            return refuse(413, fmt::format("the request's body is larger than {} bytes", limits_.body_bytes));
        }
        refuse(400, fmt::format("not a valid HTTP/1.1 request: {}", ec.message()));
    }

    void refuse(int status, std::string message) {
        state_ = State::failed;
        failure_ = {status, std::move(message)};
    }

    ParserLimits limits_;
    BeastParser beast_;
    State state_ = State::empty;
    Failure failure_;
    std::size_t header_bytes_ = 0;
    bool expects_continue_ = false;
};

RequestParser::RequestParser(ParserLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

std::size_t RequestParser::feed(std::string_view bytes) { return impl_->feed(bytes); }
RequestParser::State RequestParser::state() const { return impl_->state(); }
const RequestParser::Failure& RequestParser::failure() const { return impl_->failure(); }
bool RequestParser::keep_alive() const { return impl_->keep_alive(); }
bool RequestParser::http_1_0() const { return impl_->http_1_0(); }
const std::string& RequestParser::target() const { return impl_->target(); }
bool RequestParser::expects_continue() const { return impl_->expects_continue(); }
Request RequestParser::take() { return impl_->take(); }

}  // namespace fairlead::net
