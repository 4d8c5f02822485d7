// The server: listens, deals connections out to the loops in turn, and ends everything in order.
#include "net/server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <system_error>

#include "base/text.h"
#include "net/loop.h"
#include "net/server_state.h"
#include "net/session.h"

namespace fairlead::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using AddressList = std::unique_ptr<addrinfo, Free<freeaddrinfo>>;

constexpr int backlog = 4'096;        // the kernel's own default limit
constexpr int accepts_per_turn = 64;  // so that a storm of connections does not starve the loop's sessions
constexpr std::chrono::milliseconds accept_pause{100};  // when descriptors ran out

std::string error_text(int code) { return std::generic_category().message(code); }

std::string address_text(const sockaddr_storage& address) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.ss_family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
        return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
    }
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(v4.sin_port));
}

struct HostAndPort {
    std::string host, port;
};

Result<HostAndPort> split_address(const std::string& listen) {
    const auto colon = listen.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : parse_int(listen.substr(colon + 1));
    if (!port || *port < 0 || *port > 65'535) {
        return fail(Errc::invalid, "listen", fmt::format("\"{}\" is not address:port with a port of 0..65535", listen));
    }
    auto host = listen.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string::npos) {
        return fail(Errc::invalid, "listen", fmt::format("\"{}\": an IPv6 address goes in brackets", listen));
    }
    return HostAndPort{host, listen.substr(colon + 1)};
}

Result<Fd> listen_on(const std::string& listen) {
    const auto parts = split_address(listen);
    if (!parts) return fail(parts.error());
    addrinfo hints{};
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int looked_up =
        getaddrinfo(parts->host.empty() ? nullptr : parts->host.c_str(), parts->port.c_str(), &hints, &found);
    const AddressList addresses(found);
    if (looked_up != 0) {
        return fail(Errc::invalid, "listen", fmt::format("\"{}\": {}", listen, gai_strerror(looked_up)));
    }
    Fd socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (socket.get() >= 0) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (socket.get() < 0 || ::bind(socket.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
        ::listen(socket.get(), backlog) != 0) {
        return fail(Errc::unavailable, fmt::format("cannot listen on {}: {}", listen, error_text(errno)));
    }
    return socket;
}

class HttpServer final : public Server {
public:
    HttpServer(std::shared_ptr<ServerState> state, Fd socket) : state_(std::move(state)) {
        sockaddr_storage address{};
        socklen_t size = sizeof address;
        getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
        address_ = address_text(address);
        const auto threads = std::max(1U, state_->options.threads);
        loops_.reserve(threads);
        for (unsigned i = 0; i < threads; ++i) {
            loops_.push_back(std::make_shared<Loop>(state_->options.max_buffered_bytes / threads));
        }
        loops_[0]->post([this, listener = std::make_shared<Fd>(std::move(socket))] {
            acceptor_.emplace(asio::posix::stream_descriptor(loops_[0]->io(), listener->release()),
                              asio::steady_timer(loops_[0]->io()));
            wait_for_clients();
        });
    }
    ~HttpServer() override { shutdown(std::chrono::milliseconds{0}); }

    [[nodiscard]] std::string address() const override { return address_; }

    void shutdown(std::chrono::milliseconds grace) override {
        if (std::exchange(down_, true)) return;
        state_->start_draining();
        loops_[0]->post([this] { acceptor_.reset(); });
        for (auto& loop : loops_) loop->post([&loop] { loop->drain_all(); });
        if (!state_->wait_until_closed(grace) && grace.count() > 0) {
            state_->log.warn("connections closed before they were done", {{"grace_ms", grace.count()}});
        }
        for (auto& loop : loops_) loop->stop();
    }

private:
    struct Acceptor {
        Acceptor(asio::posix::stream_descriptor descriptor, asio::steady_timer pause_timer)
            : listener(std::move(descriptor)), timer(std::move(pause_timer)) {}
        asio::posix::stream_descriptor listener;
        asio::steady_timer timer;
    };

    // All below: on the first loop's thread.
    void wait_for_clients() {
        acceptor_->listener.async_wait(asio::posix::stream_descriptor::wait_read, [this](const error_code& ec) {
            if (!ec && acceptor_) accept_clients();
        });
    }

    void accept_clients() {
        for (int i = 0; i < accepts_per_turn; ++i) {
            sockaddr_storage peer{};
            socklen_t size = sizeof peer;
            Fd socket(::accept4(acceptor_->listener.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (socket.get() >= 0) {
                deal(std::move(socket), address_text(peer));
            } else if (errno == EAGAIN) {
                break;
            } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                return pause(error_text(errno));
            }
            // Else that one client left before we got to it.
        }
        wait_for_clients();
    }

    void deal(Fd socket, std::string peer) {
        const auto admission = state_->connection_opened();
        if (admission == ServerState::Admission::refused) return turn_away(*state_, peer);
        const int on = 1;
        setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        // std::function copies, a socket cannot be: hence the shared owner.
        Newcomer newcomer{std::make_shared<Fd>(std::move(socket)), std::move(peer), 0};
        const auto first = next_loop_++ % loops_.size();
        if (admission == ServerState::Admission::crowded) return find_place(state_, loops_, first, std::move(newcomer));
        loops_[first]->post([state = state_, loop = loops_[first], newcomer = std::move(newcomer)] {
            start_session(state, loop, std::move(*newcomer.socket), newcomer.peer);
        });
    }

    struct Newcomer {
        std::shared_ptr<Fd> socket;
        std::string peer;
        std::size_t asked;  // loops that had no place to give
    };
    using Loops = std::vector<std::shared_ptr<Loop>>;

    // All places are taken: each loop in turn is asked for the connection that it misses least.
    static void find_place(const std::shared_ptr<ServerState>& state, const Loops& loops, std::size_t index,
                           Newcomer newcomer) {
        loops[index]->post([state, loops, index, newcomer = std::move(newcomer)]() mutable {
            if (loops[index]->roster().make_place()) {
                return start_session(state, loops[index], std::move(*newcomer.socket), newcomer.peer);
            }
            if (++newcomer.asked < loops.size()) {
                return find_place(state, loops, (index + 1) % loops.size(), std::move(newcomer));
            }
            turn_away(*state, newcomer.peer);
            state->connection_closed();
        });
    }

    static void turn_away(ServerState& state, const std::string& peer) {
        state.metrics.connections_refused.add();
        if (state.may_warn()) {
            state.log.warn("connection refused: too many are open",
                           {{"peer", peer}, {"max_connections", state.options.max_connections}});
        }
    }

    // Out of descriptors or memory: the waiting clients stay in the backlog, and looking again at once would spin.
    void pause(const std::string& reason) {
        if (state_->may_warn()) state_->log.warn("cannot accept connections", {{"reason", reason}});
        for (auto& loop : loops_) loop->post([&roster = loop->roster()] { roster.make_place(); });
        acceptor_->timer.expires_after(accept_pause);
        acceptor_->timer.async_wait([this](const error_code& ec) {
            if (!ec && acceptor_) accept_clients();
        });
    }

    std::shared_ptr<ServerState> state_;
    std::string address_;
    Loops loops_;
    std::optional<Acceptor> acceptor_;
    std::size_t next_loop_ = 0;
    bool down_ = false;
};

}  // namespace

Result<std::unique_ptr<Server>> start_server(ServerOptions options, Handler& handler, Log& log, Metrics& metrics) {
    std::unique_ptr<TlsContext> tls;
    if (options.tls) {
        auto loaded = TlsContext::load(*options.tls);
        if (!loaded) return fail(loaded.error());
        tls = std::move(*loaded);
    }
    auto socket = listen_on(options.listen);
    if (!socket) return fail(socket.error());
    auto state = std::make_shared<ServerState>(std::move(options), std::move(tls), handler, log, metrics);
    return std::make_unique<HttpServer>(std::move(state), std::move(*socket));
}

}  // namespace fairlead::net
