// Tells secondaries that a zone has changed (NOTIFY, RFC 1996), so that they need not wait for the refresh time of its
// SOA. Has a thread and sockets of its own; what is sent when is decided by NotifySchedule.
//
// Threads: set_policy() and zone_changed() from any; they never wait for the network.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "dns/tsig.h"
#include "dnsserver/listen.h"
#include "dnsserver/notify_schedule.h"
#include "dnsserver/zone_set.h"
#include "net/handles.h"

namespace fairlead::dnsserver {

class Notifier {
public:
    struct Parts {
        Published<Snapshot>& zones;
        const Clock& clock;
        Random& random;
        Log& log;
        Metrics& metrics;
    };
    // `from`: the addresses that the server answers at. Secondaries take notices only from the address of their
    // primary, so they are sent from the first of each family that is one (loopback last); none: the system chooses.
    static Result<std::unique_ptr<Notifier>> start(const Parts& parts, const std::vector<ListenAddress>& from);
    ~Notifier();  // ends the thread
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    // Peers that are new are told at once: they may have missed changes.
    void set_policy(std::shared_ptr<const TransferPolicy> policy);
    // After its publication. Changes that come quickly are told as one.
    void zone_changed(const dns::Name& apex, std::uint32_t serial);

private:
    struct Outstanding {
        NotifyTarget target;
        std::string mac;      // of the request; empty: not signed
        std::string trouble;  // what the last answer was, if it was no good
        std::uint32_t serial = 0;
    };

    explicit Notifier(const Parts& parts);
    void run();
    void take_news();
    void send_due();
    void send(const NotifySchedule::Notice& notice, const Snapshot& zones);
    void receive(int socket);
    void judge(std::string_view reply, const dns::Address& from, std::uint16_t port);
    void give_up(const NotifyTarget& target);
    std::uint16_t new_id(const NotifyTarget& target);
    void forget(const NotifyTarget& target);
    void count(const char* what, const char* help, const dns::Name& zone);
    [[nodiscard]] int timeout_ms() const;
    void wake() const;

    Parts parts_;
    net::Fd v4_, v6_, bell_;

    std::mutex mutex_;  // of the next three: what the thread has not seen yet
    std::shared_ptr<const TransferPolicy> new_policy_;
    std::map<dns::Name, std::uint32_t> news_;
    bool stop_ = false;

    // The thread's own.
    NotifySchedule schedule_;
    std::shared_ptr<const TransferPolicy> policy_ = std::make_shared<TransferPolicy>();
    std::map<std::uint16_t, Outstanding> outstanding_;  // by the id of the notice
    std::map<NotifyTarget, std::uint16_t> ids_;         // of the last notice to each
    std::thread thread_;
};

}  // namespace fairlead::dnsserver
