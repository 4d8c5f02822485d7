// A cluster without a network: lists with pages, watches, history and its loss, and ways to fail. One thread: answers
// come before the call returns, events when objects change.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster/follower.h"
#include "json/yaml.h"

namespace fairlead::cluster {

inline const std::string gateways_path = "/apis/gateway.networking.k8s.io/v1/gateways";
inline const std::string routes_path = "/apis/gateway.networking.k8s.io/v1/httproutes";
inline const std::string namespaces_path = "/api/v1/namespaces";

class FakeCluster {
public:
    enum class Mode {
        answers,
        refuses,  // every call fails at once
        silent,   // calls go on for ever
    };
    Mode mode = Mode::answers;
    Error refusal{Errc::unavailable, "spoke:6443", "connection refused"};
    std::map<std::string, Error> broken;        // path -> every call to it fails so
    std::map<std::string, std::string> single;  // path of one object -> what a GET of it answers
    std::vector<std::string> calls;             // paths with their queries, as they were asked for
    std::size_t watch_lines = 0;                // that were sent
    // Answers writes; without it there are none.
    std::function<Result<std::string>(const Sending&)> on_send;

    // YAML of one object; made or replaced.
    void put(const std::string& path, std::string_view yaml) {
        auto object = json::parse_yaml(yaml)->front().value;
        const auto key = key_of(object);
        json::set_at(object, "metadata.resourceVersion", json::Value(std::to_string(++revision_)));
        const bool there = objects_[path].contains(key);
        objects_[path][key] = object;
        record(path, there ? "MODIFIED" : "ADDED", object);
    }
    void remove(const std::string& path, const std::string& key) {
        auto object = objects_.at(path).at(key);
        objects_.at(path).erase(key);
        json::set_at(object, "metadata.resourceVersion", json::Value(std::to_string(++revision_)));
        record(path, "DELETED", object);
    }
    // Watches get a bookmark of the revision as it is now.
    void bookmark() {
        json::Value object = json::Object();
        json::set_at(object, "metadata.resourceVersion", json::Value(std::to_string(revision_)));
        for (const auto& [id, watch] : std::map(watches_)) send(watch, "BOOKMARK", object);
    }
    // Nobody can watch from before now any more.
    void compact() {
        compacted_ = revision_;
        history_.clear();
    }
    // As the server does when their time is over.
    void end_watches(const std::optional<Error>& error = {}) {
        for (const auto& [id, watch] : std::exchange(watches_, {})) {
            watch.done(error ? Result<void>(fail(*error)) : Result<void>());
        }
    }
    // To all watches of the path.
    void say(const std::string& path, std::string_view line) {
        for (const auto& [id, watch] : std::map(watches_)) {
            if (watch.path == path) watch.line(line);
        }
    }
    [[nodiscard]] std::size_t watches() const { return watches_.size(); }
    [[nodiscard]] std::size_t count(std::string_view part) const {
        return static_cast<std::size_t>(std::count_if(
            calls.begin(), calls.end(), [&](const auto& call) { return call.find(part) != std::string::npos; }));
    }
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

    std::unique_ptr<Link> link() { return std::make_unique<FakeLink>(*this); }

private:
    struct Watch {
        std::string path;
        std::function<void(std::string_view)> line;
        std::function<void(Result<void>)> done;
    };
    struct Past {
        std::uint64_t revision;
        std::string path, type;
        json::Value object;
    };
    class FakeCall final : public Call {
    public:
        FakeCall(FakeCluster& cluster, std::uint64_t id) : cluster_(cluster), id_(id) {}
        ~FakeCall() override { cluster_.watches_.erase(id_); }
        FakeCall(const FakeCall&) = delete;
        FakeCall& operator=(const FakeCall&) = delete;

    private:
        FakeCluster& cluster_;
        std::uint64_t id_;
    };
    class FakeLink final : public Link {
    public:
        explicit FakeLink(FakeCluster& cluster) : cluster_(cluster) {}
        std::unique_ptr<Call> list(std::string path, std::function<void(Result<std::string>)> done) override {
            return cluster_.list(path, done);
        }
        std::unique_ptr<Call> watch(std::string path, std::function<void(std::string_view)> line,
                                    std::function<void(Result<void>)> done) override {
            return cluster_.watch(path, std::move(line), std::move(done));
        }
        std::unique_ptr<Call> send(Sending sending, std::function<void(Result<std::string>)> done) override {
            if (cluster_.mode == Mode::silent || !cluster_.on_send) return nullptr;
            done(cluster_.mode == Mode::refuses ? Result<std::string>(fail(cluster_.refusal))
                                                : cluster_.on_send(sending));
            return nullptr;
        }

    private:
        FakeCluster& cluster_;
    };

    static std::string parameter(const std::string& query, const std::string& name) {
        for (const auto part : split(query, '&')) {
            if (part.starts_with(name + "=")) return *percent_decode(part.substr(name.size() + 1), true);
        }
        return {};
    }
    static void send(const Watch& watch, std::string_view type, const json::Value& object) {
        watch.line(fmt::format(R"({{"type":"{}","object":{}}})", type, json::serialize(object)));
    }
    void record(const std::string& path, const std::string& type, const json::Value& object) {
        history_.push_back({revision_, path, type, object});
        if (mode == Mode::silent) return;
        for (const auto& [id, watch] : std::map(watches_)) {
            if (watch.path == path) {
                send(watch, type, object);
                ++watch_lines;
            }
        }
    }
    // How a call to the path fails; nothing: it does not.
    [[nodiscard]] std::optional<Error> failure(const std::string& path) const {
        if (mode == Mode::refuses) return refusal;
        const auto found = broken.find(path);
        if (found != broken.end()) return found->second;
        return std::nullopt;
    }
    std::unique_ptr<Call> list(const std::string& asked, const std::function<void(Result<std::string>)>& done) {
        calls.push_back(asked);
        const auto path = asked.substr(0, asked.find('?'));
        const auto query = asked.substr(std::min(asked.size(), path.size() + 1));
        auto call = std::make_unique<FakeCall>(*this, 0);
        if (mode == Mode::silent) return call;
        if (const auto error = failure(path)) {
            done(fail(*error));
            return call;
        }
        if (const auto one = single.find(path); one != single.end()) {
            done(one->second);
            return call;
        }
        const auto from = parameter(query, "continue");
        const auto limit = parse_int(parameter(query, "limit")).value_or(1'000'000);
        std::string items;
        std::string more;
        std::int64_t count = 0;
        for (const auto& [key, object] : objects_[path]) {
            if (key < from) continue;
            if (count++ == limit) {
                more = key;
                break;
            }
            items += (items.empty() ? "" : ",") + json::serialize(object);
        }
        done(fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", revision_, more,
                         items));
        return call;
    }
    std::unique_ptr<Call> watch(const std::string& asked, std::function<void(std::string_view)> line,
                                std::function<void(Result<void>)> done) {
        calls.push_back(asked);
        const auto path = asked.substr(0, asked.find('?'));
        const auto from =
            static_cast<std::uint64_t>(*parse_int(parameter(asked.substr(path.size() + 1), "resourceVersion")));
        const auto id = ++next_watch_;
        auto call = std::make_unique<FakeCall>(*this, id);
        if (mode == Mode::silent) return call;
        if (const auto error = failure(path)) {
            done(fail(*error));
            return call;
        }
        if (from < compacted_) {
            line(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})");
            done({});
            return call;
        }
        const auto& watch = watches_[id] = {path, std::move(line), std::move(done)};
        for (const auto& past : history_) {
            if (past.path == path && past.revision > from) send(watch, past.type, past.object);
        }
        return call;
    }

    std::uint64_t revision_ = 100, compacted_ = 0, next_watch_ = 0;
    std::map<std::string, std::map<std::string, json::Value>> objects_;
    std::vector<Past> history_;
    std::map<std::uint64_t, Watch> watches_;
};

}  // namespace fairlead::cluster
