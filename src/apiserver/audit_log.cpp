#include "apiserver/audit_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/log.h"
#include "base/text.h"
#include "json/value.h"

namespace fairlead::apiserver {

namespace {

constexpr std::size_t max_text_bytes = 1024;
constexpr std::size_t max_groups = 64;
constexpr std::size_t max_batch_bytes = 64UL * 1024;

json::Value cut(std::string_view text) {
    if (text.size() <= max_text_bytes) return json::Value(valid_utf8(text));
    return json::Value(valid_utf8(text.substr(0, max_text_bytes)) + "...");
}

json::Value described(const User& user) {
    json::Object object{{"username", cut(user.name)}};
    if (!user.uid.empty()) object["uid"] = cut(user.uid);
    json::Array groups;
    for (std::size_t i = 0; i < user.groups.size() && i < max_groups; ++i) groups.push_back(cut(user.groups[i]));
    object["groups"] = std::move(groups);
    return object;
}

std::string problem_text(int number) { return std::error_code(number, std::generic_category()).message(); }

Result<int> open_file(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return fail(Errc::invalid, path.string(), problem_text(errno));
    // A file that was there before may be open to others.
    if (::fchmod(file, 0600) != 0) {
        const auto problem = problem_text(errno);
        ::close(file);
        return fail(Errc::invalid, path.string(), "cannot be made private: " + problem);
    }
    return file;
}

}  // namespace

std::string audit_line(const AuditEvent& event) {
    json::Object line;
    line["time"] = rfc3339_micros(event.time);
    line["requestId"] = event.request_id;
    if (event.behind) {
        line["user"] = described(*event.behind);
        line["impersonatedUser"] = event.user ? described(*event.user) : json::Value(nullptr);
    } else if (event.user) {
        line["user"] = described(*event.user);
    } else {
        line["user"] =
            json::Object{{"username", "system:anonymous"}, {"groups", json::Array{"system:unauthenticated"}}};
    }
    line["sourceAddress"] = event.from;
    if (!event.agent.empty()) line["userAgent"] = cut(event.agent);
    line["verb"] = event.attributes.verb;
    if (!event.attributes.resource.empty()) {
        json::Object object;
        const auto add = [&object](std::string_view name, const std::string& value) {
            if (!value.empty()) object[name] = cut(value);
        };
        add("group", event.attributes.group);
        add("version", event.attributes.version);
        add("resource", event.attributes.resource);
        add("subresource", event.attributes.subresource);
        add("namespace", event.attributes.namespace_);
        add("name", event.attributes.name);
        line["object"] = std::move(object);
    }
    line["path"] = cut(event.path);
    line["code"] = event.code;
    line["latencyMicros"] = event.latency.count();
    line["decision"] = event.allowed ? "allow" : "forbid";
    if (!event.reason.empty()) line["reason"] = cut(event.reason);
    return json::serialize(line) + "\n";
}

Result<std::unique_ptr<AuditLog>> AuditLog::open(std::filesystem::path path, const Clock& clock, Log& log,
                                                 Metrics& metrics, std::size_t queue) {
    const auto file = open_file(path);
    if (!file) return fail(file.error());
    return std::unique_ptr<AuditLog>(new AuditLog(std::move(path), *file, clock, log, metrics, queue));
}

AuditLog::AuditLog(std::filesystem::path path, int file, const Clock& clock, Log& log, Metrics& metrics,
                   std::size_t queue)
    : path_(std::move(path)),
      clock_(clock),
      log_(log),
      written_(metrics.counter("apiserver_audit_event_total", "Events written to the audit log.")),
      dropped_(metrics.counter("apiserver_audit_error_total",
                               "Events that the audit log lacks: its queue was full or the file refused them.",
                               {{"plugin", "log"}})),
      file_(file),
      queue_(queue),
      thread_([this] { run(); }) {}

AuditLog::~AuditLog() {
    queue_.close();
    thread_.join();
    ::close(file_);
}

void AuditLog::record(AuditEvent event) {
    if (queue_.try_push(std::move(event))) return;
    gap_.fetch_add(1, std::memory_order_relaxed);
    dropped_.add();
}

Result<void> AuditLog::reopen() {
    const auto file = open_file(path_);
    if (!file) return fail(file.error());
    const std::lock_guard lock(file_mutex_);
    ::close(file_);
    file_ = *file;
    return {};
}

void AuditLog::run() {
    while (auto event = queue_.pop()) {
        std::uint64_t events = 1;
        std::string lines = audit_line(*event);
        while (lines.size() < max_batch_bytes && queue_.size() > 0) {
            event = queue_.pop();
            if (!event) break;
            lines += audit_line(*event);
            ++events;
        }
        const auto gap = gap_.exchange(0, std::memory_order_relaxed);
        if (gap > 0) {
            lines += json::serialize(json::Object{{"time", rfc3339_micros(clock_.now())}, {"dropped", gap}}) + "\n";
        }
        if (write(lines)) {
            written_.add(static_cast<double>(events));
        } else {
            dropped_.add(static_cast<double>(events));
            gap_.fetch_add(gap + events, std::memory_order_relaxed);
        }
    }
}

bool AuditLog::write(std::string_view lines) {
    const std::lock_guard lock(file_mutex_);
    while (!lines.empty()) {
        const auto sent = ::write(file_, lines.data(), lines.size());
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) {
            if (!std::exchange(failing_, true)) {
                log_.error("cannot write the audit log", {{"file", path_.string()}, {"why", problem_text(errno)}});
            }
            return false;
        }
        lines.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (std::exchange(failing_, false)) log_.info("the audit log is written again", {{"file", path_.string()}});
    return true;
}

}  // namespace fairlead::apiserver
