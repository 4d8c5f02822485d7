#include "dnsserver/tcp_loop.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/log.h"
#include "dnsserver/socket_address.h"

namespace fairlead::dnsserver {
namespace {

using std::chrono::milliseconds;

constexpr int events_at_a_time = 64;
constexpr int accepts_at_a_time = 64;
constexpr milliseconds longest_tick{250};
constexpr milliseconds accept_pause{1'000};
constexpr std::chrono::minutes warn_interval{1};
constexpr int send_buffer_bytes = 128 * 1'024;  // what the kernel may hold for one client, beside our own

// Who counts as one client: an IPv6 network is given out as a whole.
dns::Address client_of(dns::Address address) {
    if (address.v6) std::fill(address.bytes.begin() + 8, address.bytes.end(), static_cast<unsigned char>(0));
    return address;
}

bool watch(int epoll, int operation, int descriptor, unsigned events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    return ::epoll_ctl(epoll, operation, descriptor, &event) == 0;
}

tl::unexpected<Error> failed(std::string_view what) {
    return fail(Errc::internal, std::string(what), std::error_code(errno, std::generic_category()).message());
}

}  // namespace

Result<std::unique_ptr<TcpLoop>> TcpLoop::make(std::vector<net::Fd> listeners, const TcpLimits& limits,
                                               const WorkerParts& parts, const Clock& clock, Log& log) {
    net::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    if (epoll.get() < 0) return failed("epoll");
    net::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake.get() < 0) return failed("eventfd");
    bool watched = watch(epoll.get(), EPOLL_CTL_ADD, wake.get(), EPOLLIN);
    for (const auto& listener : listeners) {
        watched = watched && watch(epoll.get(), EPOLL_CTL_ADD, listener.get(), EPOLLIN);
    }
    if (!watched) return failed("epoll");
    return std::unique_ptr<TcpLoop>(
        new TcpLoop(std::move(listeners), std::move(epoll), std::move(wake), limits, parts, clock, log));
}

TcpLoop::TcpLoop(std::vector<net::Fd> listeners, net::Fd epoll, net::Fd wake, const TcpLimits& limits,
                 const WorkerParts& parts, const Clock& clock, Log& log)
    : listeners_(std::move(listeners)),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      limits_(limits),
      worker_(parts),
      clock_(clock),
      log_(log),
      scratch_(max_message_bytes),
      // A limit is noticed at most an eighth of it too late.
      tick_(std::clamp(std::min(limits.idle, limits.progress) / 8, milliseconds(1), longest_tick)) {}

TcpLoop::~TcpLoop() = default;

void TcpLoop::stop() {
    stopping_.store(true);
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
}

void TcpLoop::run() {
    std::array<epoll_event, events_at_a_time> ready{};
    while (!stopping_.load()) {
        const int count = ::epoll_wait(epoll_.get(), ready.data(), events_at_a_time, patience(clock_.monotonic()));
        const auto now = clock_.monotonic();
        const std::span<const epoll_event> events(ready.data(), static_cast<std::size_t>(std::max(count, 0)));
        // Guests first: who comes in may get the descriptor of one that made way, and with it news that are not his.
        for (const auto& event : events) {
            if (!listens(event.data.fd)) handle(event.data.fd, event.events, now);
        }
        for (const auto& event : events) {
            if (listens(event.data.fd) && !paused_) accept_clients(event.data.fd, now);
        }
        look_around(now);
    }
    guests_.clear();
    per_client_.clear();
    counts_.open.store(0);
}

// Nobody there: nothing becomes due.
int TcpLoop::patience(MonotonicTime now) const {
    if (guests_.empty() && !paused_) return -1;
    const auto left = std::chrono::ceil<milliseconds>(looked_ + tick_ - now);
    return static_cast<int>(std::clamp(left, milliseconds(0), tick_).count());
}

bool TcpLoop::listens(int descriptor) const {
    return std::any_of(listeners_.begin(), listeners_.end(),
                       [&](const net::Fd& listener) { return listener.get() == descriptor; });
}

void TcpLoop::handle(int descriptor, unsigned events, MonotonicTime now) {
    const auto guest = guests_.find(descriptor);
    if (guest == guests_.end()) return;  // made way, or is the call to stop
    auto& connection = *guest->second.connection;
    const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if (broken) return remove(guest, TcpEnd::client);
    if ((events & EPOLLOUT) != 0) connection.writable(worker_, scratch_, now);
    if ((events & EPOLLIN) != 0) connection.readable(worker_, scratch_, now);
    settle(guest);
}

void TcpLoop::settle(Guests::iterator guest) {
    const auto& connection = *guest->second.connection;
    if (connection.ended()) return remove(guest, *connection.ended());
    const unsigned wanted =
        (connection.wants_to_read() ? unsigned{EPOLLIN} : 0U) | (connection.wants_to_write() ? unsigned{EPOLLOUT} : 0U);
    if (wanted == guest->second.events) return;
    guest->second.events = wanted;
    if (!watch(epoll_.get(), EPOLL_CTL_MOD, guest->first, wanted)) remove(guest, TcpEnd::client);
}

void TcpLoop::accept_clients(int listener, MonotonicTime now) {
    for (int i = 0; i < accepts_at_a_time; ++i) {
        SocketAddress peer{.v6 = {}};
        socklen_t size = sizeof peer;
        net::Fd socket(::accept4(listener, &peer.any, &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket.get() >= 0) {
            admit(std::move(socket), from_socket(peer), now);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            return pause_accepting(errno, now);
        }  // else: that client is gone already
    }
}

// Those who wait stay in the backlog, and looking again at once would spin.
void TcpLoop::pause_accepting(int error, MonotonicTime now) {
    counts_.accept_errors.add();
    (void)make_place(nullptr);
    paused_ = now;
    for (const auto& listener : listeners_) (void)watch(epoll_.get(), EPOLL_CTL_MOD, listener.get(), 0);
    if (warned_ && now - *warned_ < warn_interval) return;
    warned_ = now;
    log_.warn("cannot accept connections", {{"reason", std::error_code(error, std::generic_category()).message()}});
}

void TcpLoop::listen_again() {
    paused_.reset();
    for (const auto& listener : listeners_) (void)watch(epoll_.get(), EPOLL_CTL_MOD, listener.get(), EPOLLIN);
}

void TcpLoop::admit(net::Fd socket, const dns::Address& address, MonotonicTime now) {
    const auto client = client_of(address);
    const auto same = per_client_.find(client);
    const bool crowded = same != per_client_.end() && same->second >= limits_.max_per_address;
    if ((crowded && !make_place(&client)) || (guests_.size() >= limits_.max_connections && !make_place(nullptr))) {
        return counts_.refused.add();
    }
    const int descriptor = socket.get();
    const int on = 1;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
    if (!watch(epoll_.get(), EPOLL_CTL_ADD, descriptor, EPOLLIN)) return counts_.accept_errors.add();
    if (guests_.empty()) looked_ = now;
    Guest guest{std::make_unique<TcpConnection>(std::move(socket), address, limits_, now), EPOLLIN};
    guests_.emplace(descriptor, std::move(guest));
    ++per_client_[client];
    counts_.accepted.add();
    counts_.open.store(guests_.size());
}

bool TcpLoop::make_place(const dns::Address* client) {
    auto longest = guests_.end();
    for (auto it = guests_.begin(); it != guests_.end(); ++it) {
        const auto& connection = *it->second.connection;
        if (!connection.idle() || (client != nullptr && client_of(connection.client()) != *client)) continue;
        if (longest == guests_.end() || connection.quiet_since() < longest->second.connection->quiet_since()) {
            longest = it;
        }
    }
    if (longest == guests_.end()) return false;
    remove(longest, TcpEnd::place);
    return true;
}

void TcpLoop::remove(Guests::iterator guest, TcpEnd why) {
    const auto client = per_client_.find(client_of(guest->second.connection->client()));
    if (--client->second == 0) per_client_.erase(client);
    guests_.erase(guest);
    counts_.open.store(guests_.size());
    counts_.ended[static_cast<std::size_t>(why)].add();
}

void TcpLoop::look_around(MonotonicTime now) {
    if (now - looked_ < tick_) return;
    looked_ = now;
    if (paused_ && now - *paused_ >= accept_pause) listen_again();
    for (auto it = guests_.begin(); it != guests_.end();) {
        const auto guest = it++;
        guest->second.connection->check(now);
        if (const auto ended = guest->second.connection->ended()) remove(guest, *ended);
    }
}

}  // namespace fairlead::dnsserver
