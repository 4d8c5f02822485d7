#include "dnsserver/notifier.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "dns/bytes.h"
#include "dns/message_writer.h"
#include "dns/soa.h"
#include "dnsserver/socket_address.h"
#include "dnsserver/transfer.h"

namespace fairlead::dnsserver {

namespace {

constexpr std::size_t notices_at_once = 200;  // then a breath of 100 ms: 2,000 a second at most
constexpr std::chrono::milliseconds breath{100};
constexpr std::size_t max_notice_bytes = 1'024;  // a SOA has at most 530, a signature 360
constexpr std::size_t max_outstanding = 32'768;  // half of all ids, so that a free one is found quickly
using dns::header_bytes;
using dns::rcode_mask;

bool is_loopback(const dns::Address& address) {
    if (!address.v6) return address.bytes[0] == 127;
    return address == dns::Address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, true};
}

std::string error_text() { return std::generic_category().message(errno); }

std::string peer_text(const NotifyTarget& target) {
    const auto address = target.address.text();
    return target.address.v6 ? fmt::format("[{}]:{}", address, target.port)
                             : fmt::format("{}:{}", address, target.port);
}

// Empty if the machine does not have the family.
Result<net::Fd> open_socket(bool v6, const std::vector<ListenAddress>& from) {
    net::Fd socket(::socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) return socket;
    const auto fits = [v6](const ListenAddress& each) { return each.address.v6 == v6 && !each.wildcard(); };
    // From loopback nobody elsewhere can be reached.
    auto found = std::find_if(from.begin(), from.end(),
                              [&](const ListenAddress& each) { return fits(each) && !is_loopback(each.address); });
    if (found == from.end()) found = std::find_if(from.begin(), from.end(), fits);
    if (found == from.end()) return socket;
    const auto address = to_socket(found->address, 0);
    if (::bind(socket.get(), &address.any, size_of(v6)) != 0) {
        return fail(Errc::unavailable, fmt::format("cannot send from {}: {}", found->address.text(), error_text()));
    }
    return socket;
}

}  // namespace

Notifier::Notifier(const Parts& parts) : parts_(parts) {}

Result<std::unique_ptr<Notifier>> Notifier::start(const Parts& parts, const std::vector<ListenAddress>& from) {
    std::unique_ptr<Notifier> notifier(new Notifier(parts));
    auto v4 = open_socket(false, from);
    if (!v4) return fail(std::move(v4.error()));
    auto v6 = open_socket(true, from);
    if (!v6) return fail(std::move(v6.error()));
    notifier->bell_ = net::Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (notifier->bell_.get() < 0) return fail(Errc::internal, fmt::format("eventfd: {}", error_text()));
    notifier->v4_ = std::move(*v4);
    notifier->v6_ = std::move(*v6);
    notifier->thread_ = std::thread([raw = notifier.get()] { raw->run(); });
    return notifier;
}

Notifier::~Notifier() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake();
    thread_.join();
}

void Notifier::wake() const {
    const std::uint64_t one = 1;
    // It can only fail when the bell rings already.
    (void)!::write(bell_.get(), &one, sizeof(one));
}

void Notifier::set_policy(std::shared_ptr<const TransferPolicy> policy) {
    {
        const std::lock_guard lock(mutex_);
        new_policy_ = std::move(policy);
    }
    wake();
}

void Notifier::zone_changed(const dns::Name& apex, std::uint32_t serial) {
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        first = news_.empty();
        news_[apex] = serial;
    }
    if (first) wake();
}

void Notifier::take_news() {
    std::shared_ptr<const TransferPolicy> policy;
    std::map<dns::Name, std::uint32_t> news;
    {
        const std::lock_guard lock(mutex_);
        policy = std::exchange(new_policy_, nullptr);
        news = std::exchange(news_, {});
    }
    const auto now = parts_.clock.monotonic();
    if (policy) {
        policy_ = std::move(policy);
        schedule_.set_policy(*policy_, now);
    }
    for (const auto& [zone, serial] : news) schedule_.zone_changed(zone, serial, now);
}

int Notifier::timeout_ms() const {
    const auto next = schedule_.next();
    if (!next) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - parts_.clock.monotonic());
    // One that is due already was left over by send_due().
    return static_cast<int>(std::clamp(left, breath, std::chrono::milliseconds(60'000)).count());
}

void Notifier::run() {
    while (true) {
        std::array<pollfd, 3> files{{{bell_.get(), POLLIN, 0}, {v4_.get(), POLLIN, 0}, {v6_.get(), POLLIN, 0}}};
        if (::poll(files.data(), files.size(), timeout_ms()) < 0 && errno != EINTR) {
            parts_.log.error("NOTIFY stops", {{"why", error_text()}});
            return;
        }
        {
            const std::lock_guard lock(mutex_);
            if (stop_) return;
        }
        if ((files[0].revents & POLLIN) != 0) {
            std::uint64_t rings = 0;
            (void)!::read(bell_.get(), &rings, sizeof(rings));
            take_news();
        }
        if (files[1].revents != 0) receive(v4_.get());
        if (files[2].revents != 0) receive(v6_.get());
        send_due();
    }
}

void Notifier::send_due() {
    const auto due = schedule_.due(parts_.clock.monotonic(), notices_at_once);
    for (const auto& target : due.given_up) give_up(target);
    if (due.send.empty()) return;
    ZoneSet::Reader reader(parts_.zones);
    const auto& zones = reader.pin();
    for (const auto& notice : due.send) send(notice, zones);
}

// Ids are guessed by who wants to acknowledge for others: they are random.
std::uint16_t Notifier::new_id(const NotifyTarget& target) {
    forget(target);
    if (outstanding_.size() >= max_outstanding) outstanding_.erase(outstanding_.begin());
    auto id = static_cast<std::uint16_t>(parts_.random.next());
    while (outstanding_.contains(id)) id = static_cast<std::uint16_t>(parts_.random.next());
    ids_[target] = id;
    return id;
}

void Notifier::forget(const NotifyTarget& target) {
    const auto id = ids_.find(target);
    if (id == ids_.end()) return;
    const auto found = outstanding_.find(id->second);
    if (found != outstanding_.end() && found->second.target == target) outstanding_.erase(found);
    ids_.erase(id);
}

void Notifier::send(const NotifySchedule::Notice& notice, const Snapshot& zones) {
    const auto& target = notice.target;
    const auto sets = zones.sets(target.zone, target.zone);
    if (!sets || !sets->contains(dns::RecordType::soa)) return schedule_.drop(target);
    const auto& soa = sets->at(dns::RecordType::soa).front();
    Outstanding sent{target, {}, {}, dns::serial_of(soa.data.front())};
    const auto id = new_id(target);
    MessageWriter writer(id, dns::opcode_notify | dns::flag_authoritative);
    writer.question(target.zone, static_cast<std::uint16_t>(dns::RecordType::soa));
    (void)writer.add(dns::Section::answer, target.zone, dns::RecordType::soa, soa.ttl, soa.data.front(),
                     max_notice_bytes);
    auto message = writer.take();
    if (target.key) {
        const auto key = policy_->keys.find(*target.key);
        if (key == policy_->keys.end()) {
            sent.trouble = fmt::format("the key {} is not known", target.key->host());
            outstanding_.insert_or_assign(id, std::move(sent));
            return;
        }
        sent.mac = dns::sign_request(message, key->second, parts_.clock.now());
    }
    const int socket = target.address.v6 ? v6_.get() : v4_.get();
    const auto address = to_socket(target.address, target.port);
    // Without a socket (the machine does not have the family) it fails as one that cannot be reached.
    if (::sendto(socket, message.data(), message.size(), 0, &address.any, size_of(target.address.v6)) < 0) {
        sent.trouble = error_text();
    }
    outstanding_.insert_or_assign(id, std::move(sent));
    count("fairlead_dns_notify_sent_total", "Notices of changes that were sent to secondaries.", target.zone);
}

void Notifier::receive(int socket) {
    std::array<char, max_notice_bytes * 2> buffer{};
    // Some at a time, so that a flood does not keep notices from being sent.
    for (int i = 0; i < 64; ++i) {
        SocketAddress from{.v6 = {}};
        socklen_t size = sizeof(from);
        const auto got = ::recvfrom(socket, buffer.data(), buffer.size(), 0, &from.any, &size);
        if (got < 0) return;
        judge({buffer.data(), static_cast<std::size_t>(got)}, from_socket(from), port_of(from));
    }
}

void Notifier::judge(std::string_view reply, const dns::Address& from, std::uint16_t port) {
    if (reply.size() < header_bytes) return;
    const auto id = static_cast<std::uint16_t>(dns::get16(reply, 0));
    const unsigned flags = dns::get16(reply, 2);
    const auto found = outstanding_.find(id);
    if (found == outstanding_.end() || (flags & dns::flag_response) == 0 ||
        (flags & dns::opcode_mask) != dns::opcode_notify)
        return;
    auto& sent = found->second;
    if (sent.target.address != from || sent.target.port != port) return;
    if (const unsigned rcode = flags & rcode_mask; rcode != 0) {
        sent.trouble = fmt::format("it answers with response code {}", rcode);
        return;
    }
    if (sent.target.key) {
        const auto key = policy_->keys.find(*sent.target.key);
        if (key == policy_->keys.end()) return;
        if (auto checked = dns::check_reply(reply, key->second, sent.mac, parts_.clock.now()); !checked) {
            sent.trouble = checked.error().text();
            return;
        }
    }
    const auto target = sent.target;
    if (schedule_.acknowledge(target)) {
        count("fairlead_dns_notify_acknowledged_total", "Notices of changes that secondaries have answered.",
              target.zone);
        parts_.log.debug("secondary notified",
                         {{"zone", target.zone.host()}, {"serial", sent.serial}, {"peer", peer_text(target)}});
    }
    forget(target);
}

void Notifier::give_up(const NotifyTarget& target) {
    const auto id = ids_.find(target);
    const auto found = id == ids_.end() ? outstanding_.end() : outstanding_.find(id->second);
    const bool told = found != outstanding_.end() && !found->second.trouble.empty();
    parts_.log.warn("secondary does not take NOTIFY", {{"zone", target.zone.host()},
                                                       {"peer", peer_text(target)},
                                                       {"why", told ? found->second.trouble : "it does not answer"}});
    count("fairlead_dns_notify_failed_total",
          "Secondaries that were given up, until the next change, without an answer.", target.zone);
    forget(target);
}

void Notifier::count(const char* what, const char* help, const dns::Name& zone) {
    parts_.metrics.counter(what, help, {{"zone", zone.host()}}).add();
}

}  // namespace fairlead::dnsserver
