// Who did what, one JSON line per request, in a file of mode 0600. The request only puts the event into a bounded
// queue; a thread of the log's own words and writes it. When the queue is full (a disk that hangs) events are dropped,
// counted, and the gap is written down as a line of its own: a request never waits for the audit log. No bodies, no
// queries, no headers but the user agent: nothing secret can get in. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "apiserver/attributes.h"
#include "apiserver/caller.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/result.h"

namespace fairlead::apiserver {

struct AuditEvent {
    WallTime time;
    std::string request_id;
    std::optional<User> user;    // who acted; nothing without credentials
    std::optional<User> behind;  // who called, if he acted as somebody else
    std::string from;            // address and port
    std::string agent;
    Attributes attributes;
    std::string path;  // without the query
    int code = 0;
    std::chrono::microseconds latency{0};
    // What authorisation said. The answer may still be a refusal: 403 with allowed = true is an attempt to give away
    // more than one holds, or a terminating namespace.
    bool allowed = false;
    std::string reason;
};

// One line, with its end. Long texts are cut: a hostile client must not fill the disk faster than it sends.
std::string audit_line(const AuditEvent& event);

class AuditLog {
public:
    static constexpr std::size_t capacity = 8'192;  // events of about 1 KiB: 8 MiB
    // Errors: the file cannot be opened.
    static Result<std::unique_ptr<AuditLog>> open(std::filesystem::path path, const Clock& clock, Log& log,
                                                  Metrics& metrics, std::size_t queue = capacity);
    // Writes what was accepted.
    ~AuditLog();
    AuditLog(const AuditLog&) = delete;
    AuditLog& operator=(const AuditLog&) = delete;

    void record(AuditEvent event);
    // After the file was renamed (rotated): goes on in a new one. On failure it goes on in the old one.
    Result<void> reopen();

private:
    AuditLog(std::filesystem::path path, int file, const Clock& clock, Log& log, Metrics& metrics, std::size_t queue);
    void run();
    bool write(std::string_view lines);

    const std::filesystem::path path_;
    const Clock& clock_;
    Log& log_;
    Counter written_, dropped_;
    std::atomic<std::uint64_t> gap_{0};  // dropped since the last line
    bool failing_ = false;               // of the log's thread
    std::mutex file_mutex_;
    int file_;
    Mailbox<AuditEvent> queue_;
    std::thread thread_;  // last: uses everything above
};

}  // namespace fairlead::apiserver
