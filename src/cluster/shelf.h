// Objects of one kind of another cluster, as structs: decodes what comes, drops what nobody asks for, and tells what
// changed by it. Used by Follower, on the thread of its step().
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cluster/list_watch.h"
#include "resource/describe.h"

namespace fairlead::cluster {

template <class T>
class Shelf final : public Sink {
public:
    // Before and after the change; null: it did not exist.
    using Changed = std::function<void(const std::string& key, const T* before, const T* after)>;
    using Read = std::function<Result<T>(const json::Value& object)>;

    // `objects` is where they are kept, for readers.
    Shelf(std::map<std::string, T>& objects, Read read, Changed changed, Log& log, std::string cluster,
          std::size_t max_objects)
        : objects_(objects),
          read_(std::move(read)),
          changed_(std::move(changed)),
          log_(log),
          cluster_(std::move(cluster)),
          max_objects_(max_objects) {}

    void put(const std::string& key, const json::Value& object) override {
        auto read = read_(object);
        const auto found = objects_.find(key);
        const bool full = found == objects_.end() && objects_.size() >= max_objects_;
        if (!read || full) {
            // What was known of it before counts on. Said once, and again when it was readable in between.
            if (skipped_.size() < max_skipped && skipped_.insert(key).second) {
                log_.warn("object of a cluster is left out",
                          {{"cluster", cluster_},
                           {"object", key},
                           {"why", read ? "there are too many" : read.error().text()}});
            }
            return;
        }
        skipped_.erase(key);
        if (found == objects_.end()) {
            const auto at = objects_.emplace(key, std::move(*read)).first;
            return changed_(key, nullptr, &at->second);
        }
        if (found->second == *read) return;
        const T before = std::exchange(found->second, std::move(*read));
        changed_(key, &before, &found->second);
    }
    void erase(const std::string& key) override {
        skipped_.erase(key);
        const auto found = objects_.find(key);
        if (found == objects_.end()) return;
        const T before = std::move(found->second);
        objects_.erase(found);
        changed_(key, &before, nullptr);
    }
    void keep_only(const std::set<std::string>& keys) override {
        std::vector<std::string> gone;
        for (const auto& [key, object] : objects_) {
            if (!keys.contains(key)) gone.push_back(key);
        }
        for (const auto& key : gone) erase(key);
    }

private:
    static constexpr std::size_t max_skipped = 1'000;

    std::map<std::string, T>& objects_;
    Read read_;
    Changed changed_;
    Log& log_;
    std::string cluster_;
    std::size_t max_objects_;
    std::set<std::string> skipped_;
};

}  // namespace fairlead::cluster
