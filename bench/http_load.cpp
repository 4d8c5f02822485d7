// A load generator: N keep-alive connections on one thread, each sending its next request when the last answer is
// complete. Prints one line of JSON. Drives our own server, proxies, and etcd's JSON gateway, with the same code.
//
// A server may close a kept connection at any time, also while a request is on its way. As HTTP clients do (RFC 9110
// 9.2.2), a GET that got not one byte of an answer on a connection that had answered before is sent once more on a new
// one. That is counted as "again"; only if it fails there, or fails on a new connection, it is an error.
#include <fmt/core.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "tls_client.h"

namespace {

using namespace bench;
using Clock = std::chrono::steady_clock;
using fairlead::equal_ignoring_case;
using fairlead::parse_int;

constexpr const char* usage = R"(usage: http_load --url URL [options]
  --url URL          http://host:port or https://host:port, with or without a path
  --path PATTERN     path and query; {n} is the request's number, {c} the connection's,
                     {a} an address made of the request's number, {n%7} what is left of it by 7
  --method METHOD    default GET
  --body-file FILE   the body, with the same placeholders
  --body-size BYTES  a body of so many letters instead
  --header 'A: b'    may be repeated, with the same placeholders; Host instead of the URL's
  --clients N        connections, default 1
  --requests N       stop after so many answers
  --seconds S        stop after so long, default 5
  --rate N           at most so many requests a second, all connections together
  --ca --cert --key FILE, --insecure
)";

struct Options {
    Target target;
    std::string path = "/", method = "GET", body, headers, ca, cert, key;
    std::int64_t clients = 1, requests = 0, rate = 0;
    double seconds = 0;
    bool insecure = false;
};

// Text with placeholders, split once so that filling them in costs little.
class Template {
public:
    explicit Template(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            const auto open = text.find('{', at);
            parts_.push_back({.text = std::string(text.substr(at, open - at))});
            if (open == std::string_view::npos) break;
            const auto close = text.find('}', open);
            const auto mark = text.substr(open + 1, close == std::string_view::npos ? 0 : close - open - 1);
            const auto by = mark.starts_with("n%") ? parse_int(mark.substr(2)).value_or(0) : 0;
            if (mark == "n" || mark == "c" || mark == "a" || by > 0) {
                parts_.push_back({.kind = mark.front(), .by = by});
                at = close + 1;
            } else {
                parts_.push_back({.text = "{"});
                at = open + 1;
            }
        }
    }
    [[nodiscard]] std::string fill(std::int64_t number, std::int64_t client) const {
        std::string out;
        for (const auto& part : parts_) {
            switch (part.kind) {
                case 'n':
                    out += std::to_string(part.by > 0 ? number % part.by : number);
                    break;
                case 'c':
                    out += std::to_string(client);
                    break;
                case 'a':
                    out += fmt::format("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255);
                    break;
                default:
                    out += part.text;
            }
        }
        return out;
    }

private:
    struct Part {
        std::string text = {};
        char kind = 0;
        std::int64_t by = 0;
    };
    std::vector<Part> parts_;
};

// Finds the end of an answer. Knows Content-Length, chunked, and nothing.
class AnswerParser {
public:
    enum class State { more, complete, broken };
    int status = 0;
    bool closes = false;  // the server says that it is the last one on this connection

    void reset() { *this = {}; }
    // Takes from the front of `in` what belongs to this answer.
    State feed(std::string& in) {
        if (!head_done_ && !take_head(in)) return broken_ ? State::broken : State::more;
        while (!done_) {
            if (left_ > 0) {
                const auto count = std::min(left_, in.size());
                in.erase(0, count);
                left_ -= count;
                if (left_ > 0) return State::more;
            }
            if (!chunked_ || last_chunk_) {
                done_ = true;
                break;
            }
            const auto end = in.find("\r\n");
            if (end == std::string::npos) return State::more;
            std::size_t size = 0;
            for (std::size_t i = 0; i < end; ++i) {
                const auto digit = std::strchr("0123456789abcdef", in[i] | 0x20);
                if (digit == nullptr) return State::broken;
                size = size * 16 + static_cast<std::size_t>(digit - "0123456789abcdef");
            }
            in.erase(0, end + 2);
            left_ = size + 2;
            last_chunk_ = size == 0;
        }
        return State::complete;
    }

private:
    bool take_head(std::string& in) {
        const auto end = in.find("\r\n\r\n");
        if (end == std::string::npos) return false;
        const std::string_view head(in.data(), end);
        status = static_cast<int>(head.size() > 12 ? parse_int(head.substr(9, 3)).value_or(0) : 0);
        broken_ = status == 0;
        for (auto line : fairlead::split(head, '\n')) {
            const auto colon = line.find(':');
            if (colon == std::string_view::npos) continue;
            const auto name = line.substr(0, colon), value = fairlead::trim(line.substr(colon + 1));
            if (equal_ignoring_case(name, "Content-Length"))
                left_ = static_cast<std::size_t>(parse_int(value).value_or(0));
            if (equal_ignoring_case(name, "Connection")) closes = equal_ignoring_case(value, "close");
            if (equal_ignoring_case(name, "Transfer-Encoding")) chunked_ = equal_ignoring_case(value, "chunked");
        }
        in.erase(0, end + 4);
        head_done_ = true;
        return !broken_;
    }

    bool head_done_ = false, chunked_ = false, last_chunk_ = false, done_ = false, broken_ = false;
    std::size_t left_ = 0;
};

struct Client {
    std::int64_t number = 0;
    Socket socket;
    std::string out, in;
    std::size_t out_at = 0;
    AnswerParser parser;
    Clock::time_point sent;
    bool used = false;      // the connection has answered before
    bool answered = false;  // something of the answer that is waited for is there
};

class Load {
public:
    Load(const Options& options, const TlsSettings& tls)
        : options_(options),
          tls_(tls),
          path_(options.path),
          body_(options.body),
          headers_(options.headers),
          own_host_(fairlead::lower("\n" + options.headers).find("\nhost:") == std::string::npos),
          clients_(static_cast<std::size_t>(options.clients)) {}

    int run() {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            clients_[i].number = static_cast<std::int64_t>(i);
            if (!open(clients_[i])) {
                fmt::print(stderr, "cannot connect to {}:{}\n", options_.target.host, options_.target.port);
                return 1;
            }
        }
        const auto start = started_at_ = Clock::now();
        const auto end =
            options_.seconds > 0
                ? start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds))
                : Clock::time_point::max();
        for (auto& client : clients_) send_next(client);
        std::vector<epoll_event> events(256);
        while ((active_ > 0 || !resting_.empty()) && Clock::now() < end) {
            const int patience = resting_.empty() ? 100 : until_due();
            const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), patience);
            wake_due();
            for (int i = 0; i < ready; ++i) serve(*static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr));
        }
        print(std::chrono::duration<double>(Clock::now() - start).count());
        return 0;
    }

private:
    bool open(Client& client) {
        if (!client.socket.connect(options_.target, tls_)) return false;
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.ptr = &client;
        client.used = false;
        return epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket.fd(), &event) == 0;
    }

    [[nodiscard]] bool ahead() const {
        const std::chrono::duration<double> elapsed = Clock::now() - started_at_;
        return options_.rate > 0 &&
               static_cast<double>(started_) >= elapsed.count() * static_cast<double>(options_.rate);
    }

    // Milliseconds until the next request may go, at least one.
    [[nodiscard]] int until_due() const {
        const std::chrono::duration<double> elapsed = Clock::now() - started_at_;
        const auto wait = static_cast<double>(started_) / static_cast<double>(options_.rate) - elapsed.count();
        return std::clamp(static_cast<int>(wait * 1000), 1, 100);
    }

    void wake_due() {
        while (!resting_.empty() && !ahead()) {
            auto* client = resting_.front();
            resting_.pop_front();
            send_next(*client);
        }
    }

    void send_next(Client& client) {
        if (ahead()) {
            client.out.clear();
            client.out_at = 0;
            resting_.push_back(&client);
            return;
        }
        if (options_.requests > 0 && started_ >= options_.requests) {
            client.out.clear();
            return;
        }
        const auto number = started_++;
        ++active_;
        // Only now: a connection that waits for its first request may be closed, too.
        const bool connected = client.socket.fd() >= 0 || open(client);
        const auto body = body_.fill(number, client.number);
        client.out = fmt::format("{} {} HTTP/1.1\r\n", options_.method, path_.fill(number, client.number));
        if (own_host_) client.out += fmt::format("Host: {}\r\n", options_.target.host);
        client.out += headers_.fill(number, client.number);
        if (!body.empty()) client.out += fmt::format("Content-Length: {}\r\n", body.size());
        client.out += "\r\n";
        client.out += body;
        client.out_at = 0;
        client.parser.reset();
        client.answered = false;
        client.sent = Clock::now();
        if (connected) {
            write(client);
        } else {
            lost(client);
        }
    }

    void write(Client& client) {
        while (client.out_at < client.out.size()) {
            std::size_t moved = 0;
            const auto state = client.socket.write(std::string_view(client.out).substr(client.out_at), moved);
            if (state == Socket::State::again) return;
            if (state == Socket::State::closed) return lost(client);
            client.out_at += moved;
        }
    }

    void serve(Client& client) {
        if (client.out_at < client.out.size()) write(client);
        for (;;) {
            std::size_t moved = 0;
            const auto state = client.socket.read(buffer_, sizeof buffer_, moved);
            if (state == Socket::State::again) return;
            if (state == Socket::State::closed) {
                if (!client.out.empty()) lost(client);
                return;
            }
            client.answered = true;
            client.in.append(buffer_, moved);
            const auto parsed = client.parser.feed(client.in);
            if (parsed == AnswerParser::State::more) continue;
            if (parsed == AnswerParser::State::broken) return lost(client);
            --active_;
            took_.push_back(std::chrono::duration<float, std::milli>(Clock::now() - client.sent).count());
            if (client.parser.status < 200 || client.parser.status > 299) note_error(client.parser.status);
            client.used = true;
            if (client.parser.closes) {
                client.in.clear();
                client.socket.close();
                return send_next(client);
            }
            send_next(client);
            // After a short read the socket is empty in all likelihood; epoll says when the answer is there.
            if (moved < sizeof buffer_ / 2) return;
        }
    }

    void note_error(int status) {
        if (errors_++ == 0) fmt::print(stderr, "first error: status {}\n", status);
    }

    // The server closed or broke the connection: that request is an error, unless it may be sent again, and the client
    // goes on with a new connection.
    void lost(Client& client) {
        const bool again = client.used && !client.answered && options_.method == "GET";
        client.in.clear();
        if (again && open(client)) {
            ++again_;
            client.out_at = 0;
            client.parser.reset();
            return write(client);
        }
        --active_;
        note_error(0);
        client.out.clear();
        if (open(client)) send_next(client);
    }

    void print(double seconds) {
        std::ranges::sort(took_);
        const auto at = [this](double share) {
            if (took_.empty()) return 0.0F;
            return took_[std::min(took_.size() - 1,
                                  static_cast<std::size_t>(share * static_cast<double>(took_.size())))];
        };
        fmt::print(
            "{{\"requests\":{},\"errors\":{},\"again\":{},\"seconds\":{:.3f},\"rps\":{:.1f},\"p50_ms\":{:.4f},\"p99_"
            "ms\":{:.4f},"
            "\"max_ms\":{:.4f}}}\n",
            took_.size(), errors_, again_, seconds, static_cast<double>(took_.size()) / seconds, at(0.5), at(0.99),
            at(1));
    }

    const Options& options_;
    const TlsSettings& tls_;
    Template path_, body_, headers_;
    bool own_host_;
    std::vector<Client> clients_;
    std::deque<Client*> resting_;  // their turn has not come
    std::vector<float> took_;
    Clock::time_point started_at_;
    std::int64_t started_ = 0, active_ = 0, errors_ = 0, again_ = 0;
    int epoll_ = -1;
    char buffer_[64 * 1024];
};

bool parse_url(std::string url, Options& options) {
    options.target.tls = url.starts_with("https://");
    if (!options.target.tls && !url.starts_with("http://")) return false;
    url.erase(0, url.find("//") + 2);
    if (const auto slash = url.find('/'); slash != std::string::npos) {
        if (slash + 1 < url.size()) options.path = url.substr(slash);
        url.resize(slash);
    }
    const auto colon = url.rfind(':');
    const bool has_port = colon != std::string::npos && url.back() != ']';
    options.target.port = has_port ? url.substr(colon + 1) : options.target.tls ? "443" : "80";
    options.target.host = has_port ? url.substr(0, colon) : url;
    if (options.target.host.starts_with('['))
        options.target.host = options.target.host.substr(1, options.target.host.size() - 2);
    return !options.target.host.empty();
}

bool read_file(const std::string& name, std::string& text) {
    std::ifstream file(name);
    std::stringstream all;
    all << file.rdbuf();
    text = all.str();
    return file.good();
}

// False when the option is unknown or its value is wrong.
bool set_option(const std::string& name, const std::string& value, Options& options) {
    const auto number = parse_int(value);
    if (name == "--url") return parse_url(value, options);
    if (name == "--path") return (options.path = value).starts_with('/');
    if (name == "--method") return !(options.method = value).empty();
    if (name == "--body-file") return read_file(value, options.body);
    if (name == "--header") return !(options.headers += value + "\r\n").empty();
    if (name == "--ca") return !(options.ca = value).empty();
    if (name == "--cert") return !(options.cert = value).empty();
    if (name == "--key") return !(options.key = value).empty();
    if (name == "--clients") return (options.clients = number.value_or(0)) > 0;
    if (name == "--rate") return (options.rate = number.value_or(0)) > 0;
    if (name == "--requests") return (options.requests = number.value_or(0)) > 0;
    if (name == "--seconds") return (options.seconds = std::strtod(value.c_str(), nullptr)) > 0;
    if (name == "--body-size" && number && *number >= 0) {
        options.body.assign(static_cast<std::size_t>(*number), 'x');
        return true;
    }
    return false;
}

std::optional<Options> parse(const std::vector<std::string>& arguments) {
    Options options;
    std::string content_type = "Content-Type: application/json\r\n";
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--insecure") {
            options.insecure = true;
        } else if (i + 1 == arguments.size() || !set_option(arguments[i], arguments[i + 1], options)) {
            fmt::print(stderr, "wrong: {}\n{}", arguments[i], usage);
            return std::nullopt;
        } else {
            ++i;
        }
    }
    if (options.target.host.empty()) {
        fmt::print(stderr, "{}", usage);
        return std::nullopt;
    }
    if (!options.body.empty() && fairlead::lower(options.headers).find("content-type:") == std::string::npos) {
        options.headers += content_type;
    }
    if (options.requests == 0 && options.seconds <= 0) options.seconds = 5;
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    const auto options = parse({argv + 1, argv + argc});
    if (!options) return 2;
    const TlsSettings tls(options->ca, options->cert, options->key, options->insecure);
    if (!tls.ok()) return 2;
    return Load(*options, tls).run();
}
