// A load generator: N keep-alive connections on one thread, each sending its next request when the last answer is
// complete. Prints one line of JSON. Drives our own server, and etcd's JSON gateway, with the same code.
#include <fmt/core.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
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
                     {a} an address made of the request's number
  --method METHOD    default GET
  --body-file FILE   the body, with the same placeholders
  --body-size BYTES  a body of so many letters instead
  --header 'A: b'    may be repeated
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
    explicit Template(std::string text) : text_(std::move(text)) {
        plain_ = true;
        for (const auto* mark : {"{n}", "{c}", "{a}"}) plain_ = plain_ && text_.find(mark) == std::string::npos;
    }
    [[nodiscard]] std::string fill(std::int64_t number, std::int64_t client) const {
        if (plain_) return text_;
        std::string out;
        for (std::size_t i = 0; i < text_.size(); ++i) {
            const auto mark = std::string_view(text_).substr(i, 3);
            if (mark == "{n}" || mark == "{c}") {
                out += std::to_string(mark == "{n}" ? number : client);
                i += 2;
            } else if (mark == "{a}") {
                out += fmt::format("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255);
                i += 2;
            } else {
                out += text_[i];
            }
        }
        return out;
    }

private:
    std::string text_;
    bool plain_;
};

// Finds the end of an answer. Knows Content-Length, chunked, and nothing.
class AnswerParser {
public:
    enum class State { more, complete, broken };
    int status = 0;

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
};

class Load {
public:
    Load(const Options& options, const TlsSettings& tls)
        : options_(options),
          tls_(tls),
          path_(options.path),
          body_(options.body),
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
            const int patience = resting_.empty() ? 100 : 1;
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
        return epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket.fd(), &event) == 0;
    }

    [[nodiscard]] bool ahead() const {
        const std::chrono::duration<double> elapsed = Clock::now() - started_at_;
        return options_.rate > 0 &&
               static_cast<double>(started_) >= elapsed.count() * static_cast<double>(options_.rate);
    }

    void wake_due() {
        while (!resting_.empty() && !ahead()) {
            auto* client = resting_.back();
            resting_.pop_back();
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
        const auto body = body_.fill(number, client.number);
        client.out = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n{}", options_.method, path_.fill(number, client.number),
                                 options_.target.host, options_.headers);
        if (!body.empty()) client.out += fmt::format("Content-Length: {}\r\n", body.size());
        client.out += "\r\n";
        client.out += body;
        client.out_at = 0;
        client.parser.reset();
        client.sent = Clock::now();
        write(client);
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
            client.in.append(buffer_, moved);
            const auto parsed = client.parser.feed(client.in);
            if (parsed == AnswerParser::State::more) continue;
            if (parsed == AnswerParser::State::broken) return lost(client);
            --active_;
            took_.push_back(std::chrono::duration<float, std::milli>(Clock::now() - client.sent).count());
            if (client.parser.status < 200 || client.parser.status > 299) note_error(client.parser.status);
            send_next(client);
            // After a short read the socket is empty in all likelihood; epoll says when the answer is there.
            if (moved < sizeof buffer_ / 2) return;
        }
    }

    void note_error(int status) {
        if (errors_++ == 0) fmt::print(stderr, "first error: status {}\n", status);
    }

    // The server closed or broke the connection: that request is an error, and the client goes on with a new one.
    void lost(Client& client) {
        --active_;
        note_error(0);
        client.in.clear();
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
            "{{\"requests\":{},\"errors\":{},\"seconds\":{:.3f},\"rps\":{:.1f},\"p50_ms\":{:.4f},\"p99_ms\":{:.4f},"
            "\"max_ms\":{:.4f}}}\n",
            took_.size(), errors_, seconds, static_cast<double>(took_.size()) / seconds, at(0.5), at(0.99), at(1));
    }

    const Options& options_;
    const TlsSettings& tls_;
    Template path_, body_;
    std::vector<Client> clients_;
    std::vector<Client*> resting_;  // their turn has not come
    std::vector<float> took_;
    Clock::time_point started_at_;
    std::int64_t started_ = 0, active_ = 0, errors_ = 0;
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
