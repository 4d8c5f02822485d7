// One kind as C++ structs: what reconcilers read. Follows an Informer; each object is decoded once per change. Shared
// by all controllers of a manager that ask for the same T. Used on the manager's thread; pointers stay valid until the
// reconciler returns.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "control/index.h"
#include "control/informer.h"
#include "json/value.h"
#include "resource/describe.h"

namespace fairlead::control {

template <class T>
class View {
public:
    using KeysOf = std::function<std::vector<std::string>(const T& object)>;

    View(Informer& informer, Log& log) : informer_(informer), log_(log) {
        informer.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
            if (after) {
                put(after);
            } else {
                erase(before->name());
            }
        });
    }
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    // Null if there is none. The key is "namespace/name", or "name".
    [[nodiscard]] const T* get(std::string_view key) const {
        const auto found = objects_.find(key);
        return found == objects_.end() ? nullptr : &found->second;
    }
    // In order of the keys: visit(key, object).
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [key, object] : objects_) visit(key, object);
    }
    [[nodiscard]] std::size_t size() const { return objects_.size(); }
    // The stored form, for changed_object().
    [[nodiscard]] store::ObjectRef stored(std::string_view key) const { return informer_.get(key); }
    [[nodiscard]] Informer& informer() const { return informer_; }
    [[nodiscard]] const resource::Kind& kind() const { return informer_.kind(); }

    // Lives as long as the view; the names it finds are keys of get().
    const Index& add_index(KeysOf keys_of) {
        auto& added = indexes_.emplace_back(std::make_unique<Keyed>(Keyed{std::move(keys_of), {}}));
        for (const auto& [key, object] : objects_) added->index.set(key, added->keys_of(object));
        return added->index;
    }

private:
    struct Keyed {
        KeysOf keys_of;
        Index index;
    };

    void put(const store::ObjectRef& stored) {
        auto value = json::parse(stored->value());
        auto object = value ? resource::decode<T>(*value) : Result<T>(fail(value.error()));
        if (!object) {
            // What the API wrote decodes; anything else is a foreign hand in the store. It counts as absent.
            log_.warn("stored object cannot be read",
                      {{"kind", kind().name}, {"object", stored->name()}, {"why", object.error().text()}});
            return erase(stored->name());
        }
        const auto at = objects_.insert_or_assign(std::string(stored->name()), std::move(*object)).first;
        for (auto& keyed : indexes_) keyed->index.set(at->first, keyed->keys_of(at->second));
    }
    void erase(std::string_view key) {
        const auto found = objects_.find(key);
        if (found == objects_.end()) return;
        for (auto& keyed : indexes_) keyed->index.erase(key);
        objects_.erase(found);
    }

    Informer& informer_;
    Log& log_;
    std::map<std::string, T, std::less<>> objects_;
    std::vector<std::unique_ptr<Keyed>> indexes_;
};

}  // namespace fairlead::control
