// What the store's tests share: a temporary folder, and a store that can be closed and opened again, of each kind.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "store/embedded.h"
#include "store/memory.h"

namespace fairlead::store {

class TempFolder {
public:
    TempFolder() {
        // In memory where there is such a place: a thousand fsyncs to a shared disk would take most of the time.
        const std::filesystem::path memory = "/dev/shm";
        const auto base = access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
        std::string pattern = (base / "fairlead-store-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) std::abort();
        path_ = pattern;
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

enum class BackendKind { memory, embedded };
inline std::string name_of(BackendKind kind) { return kind == BackendKind::memory ? "memory" : "embedded"; }

class Backend {
public:
    explicit Backend(BackendKind kind, HistoryLimits limits = {}) : kind_(kind), limits_(limits) { open(); }
    Store& operator*() { return *store_; }
    Store* operator->() { return store_.get(); }
    [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "store.db"; }
    Metrics& metrics() { return metrics_; }

    void close() { store_.reset(); }
    void open() {
        if (kind_ == BackendKind::memory) {
            store_ = make_memory_store(limits_);
            return;
        }
        auto opened = open_embedded_store({.file = file(),
                                           .history = limits_,
                                           .max_waiting_commits = max_waiting,
                                           .reserved_log_bytes = 0,
                                           .progress = {}},
                                          log_, metrics_);
        if (!opened) {
            ADD_FAILURE() << opened.error().text();
            std::abort();  // every test needs it
        }
        store_ = std::move(*opened);
    }
    // Memory forgets everything, so only the embedded kind is reopened.
    void reopen() {
        if (kind_ == BackendKind::memory) return;
        close();
        open();
    }

    std::size_t max_waiting = 10'000;

private:
    BackendKind kind_;
    HistoryLimits limits_;
    TempFolder folder_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    std::unique_ptr<Store> store_;
};

inline Key key(std::string name, std::string table = "fairlead.dev/routes") {
    return {std::move(table), std::move(name)};
}
inline Value value(std::string bytes) { return {.bytes = std::move(bytes)}; }

// The revision of a commit that must succeed.
inline Revision must(const Result<Committed>& committed) {
    EXPECT_TRUE(committed) << (committed ? "" : committed.error().text());
    return committed ? committed->revision : 0;
}
inline Revision put_now(Store& store, std::string name, std::string bytes, std::string table = "fairlead.dev/routes") {
    return must(store.commit_and_wait(
        {put(key(std::move(name), std::move(table)), Expect::anything(), value(std::move(bytes)))}));
}
inline Revision remove_now(Store& store, std::string name, std::string table = "fairlead.dev/routes") {
    return must(store.commit_and_wait({remove(key(std::move(name), std::move(table)), Expect::present())}));
}

// "a=1@3 b=2@4": names, values and revisions in order.
inline std::string show(const Snapshot& snapshot, std::string_view prefix = "", std::string_view from = "") {
    std::string text;
    snapshot.scan(prefix, from, [&](const ObjectRef& object) {
        if (!text.empty()) text += ' ';
        text.append(object->name()).append("=").append(object->value());
        text.append("@").append(std::to_string(object->modified()));
        return true;
    });
    return text;
}
inline std::string show(Store& store, std::string_view table = "fairlead.dev/routes", std::optional<Revision> at = {}) {
    const auto snapshot = store.snapshot(table, at);
    return snapshot ? show(*snapshot) : snapshot.error().text();
}

// "+a=1@2 a=2(1)@3 -a=2(2)@4": created, changed (with the value before), removed.
inline std::string show(const Event& event) {
    std::string text = event.removed ? "-" : event.previous ? "" : "+";
    text.append(event.object->name()).append("=").append(event.object->value());
    if (event.previous) text.append("(").append(event.previous->value()).append(")");
    return text + "@" + std::to_string(event.revision);
}
inline std::string show(const std::vector<Event>& events) {
    std::string text;
    for (const Event& event : events) text += (text.empty() ? "" : " ") + show(event);
    return text;
}
inline std::string events_after(Store& store, Revision after, std::string_view table = "fairlead.dev/routes") {
    auto cursor = store.watch(table, after);
    if (!cursor) return cursor.error().text();
    auto batch = (*cursor)->next(1'000'000);
    return batch ? show(batch->events) : batch.error().text();
}

inline double metric(const Metrics& metrics, const std::string& name) {
    const std::string text = metrics.expose();
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace fairlead::store
