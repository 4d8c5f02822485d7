#include "net/loop.h"

#include <boost/asio/post.hpp>

namespace fairlead::net {

namespace {
constexpr std::size_t scratch_bytes = 64UL * 1024;  // four TLS records
}

Loop::Loop(std::size_t max_held_bytes)
    : io_(std::make_unique<boost::asio::io_context>(1)),
      work_(boost::asio::make_work_guard(*io_)),
      scratch_(scratch_bytes),
      roster_(max_held_bytes),
      thread_([this] {
          id_ = std::this_thread::get_id();
          io_->run();
      }) {}

Loop::~Loop() { stop(); }

void Loop::notify(std::shared_ptr<Member> member) {
    if (member->pending_.exchange(true, std::memory_order_acq_rel)) return;  // awake already
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    notified_.push_back(std::move(member));
    if (std::exchange(scheduled_, true)) return;
    boost::asio::post(*io_, [this] { visit_notified(); });
}

void Loop::visit_notified() {
    {
        const std::lock_guard lock(mutex_);
        visiting_.swap(notified_);
        scheduled_ = false;
    }
    for (auto& member : visiting_) {
        // Before the visit: a notify() from here on must lead to another one.
        member->pending_.exchange(false, std::memory_order_acq_rel);
        member->notified();
    }
    visiting_.clear();
}

void Loop::post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (!stopped_) boost::asio::post(*io_, std::move(task));
}

void Loop::stop() {
    if (!thread_.joinable()) return;
    post([this] {
        while (!members_.empty()) {
            const auto member = members_.begin()->second;
            member->abort();
            members_.erase(member.get());
        }
        work_.reset();
        io_->stop();
    });
    thread_.join();
    std::unique_ptr<boost::asio::io_context> io;
    std::vector<std::shared_ptr<Member>> dropped;
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        dropped.swap(notified_);
        io.swap(io_);
    }
    // Queued handlers die here, without the lock: what they hold may notify.
}

void Loop::enter(std::shared_ptr<Member> member) {
    auto* key = member.get();
    members_.emplace(key, std::move(member));
}

void Loop::leave(Member& member) { members_.erase(&member); }

void Loop::drain_all() {
    std::vector<std::shared_ptr<Member>> all;
    all.reserve(members_.size());
    for (const auto& [key, member] : members_) all.push_back(member);
    for (const auto& member : all) member->drain();
}

std::string_view Loop::date() {
    const std::time_t now = std::time(nullptr);
    if (now != date_second_) {
        std::tm parts{};
        gmtime_r(&now, &parts);
        char text[64];
        date_.assign(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts));
        date_second_ = now;
    }
    return date_;
}

}  // namespace fairlead::net
