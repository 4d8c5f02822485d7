// One thread with one event loop, and the sessions that live on it. Other threads reach a session only through
// notify(): woken sessions are collected in a list, and one event per batch makes the loop visit them all. So a commit
// that wakes a thousand watches costs a thousand list entries and one system call, not a thousand of each.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "net/roster.h"

namespace fairlead::net {

class Loop {
public:
    // What lives on a loop. All functions are called on the loop's thread.
    class Member {
    public:
        virtual ~Member() = default;
        virtual void notified() = 0;  // after one or more notify()
        virtual void drain() = 0;     // finish what is under way, then leave
        virtual void abort() = 0;     // leave now, and let go of everything that belongs to the loop

    private:
        friend class Loop;
        std::atomic<bool> pending_{false};
    };

    explicit Loop(std::size_t max_held_bytes = std::numeric_limits<std::size_t>::max());
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Any thread. Nothing happens after stop().
    void notify(std::shared_ptr<Member> member);
    void post(std::function<void()> task);
    // Aborts all members, joins the thread, drops what is still queued. Not from the loop's own thread.
    void stop();

    // The loop's thread only:
    void enter(std::shared_ptr<Member> member);
    void leave(Member& member);
    void drain_all();
    [[nodiscard]] boost::asio::io_context& io() { return *io_; }
    // For reading from sockets: one for all sessions, as no session reads while another does.
    [[nodiscard]] std::span<char> scratch() { return scratch_; }
    [[nodiscard]] Roster& roster() { return roster_; }
    // The time as HTTP wants it, made once a second.
    std::string_view date();

    [[nodiscard]] bool on_this_thread() const { return std::this_thread::get_id() == id_.load(); }

private:
    void visit_notified();

    std::unique_ptr<boost::asio::io_context> io_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::vector<char> scratch_;
    std::unordered_map<Member*, std::shared_ptr<Member>> members_;
    Roster roster_;
    std::string date_;
    std::time_t date_second_ = 0;

    std::mutex mutex_;  // guards the three below, and io_ against its end
    std::vector<std::shared_ptr<Member>> notified_;
    bool scheduled_ = false;
    bool stopped_ = false;
    std::vector<std::shared_ptr<Member>> visiting_;  // the loop's thread: keeps its memory between batches

    std::atomic<std::thread::id> id_;
    std::thread thread_;  // last: runs as soon as it exists
};

}  // namespace fairlead::net
