// Objects of our API by what they speak of: a process, or an index of one. Usually each is spoken of by one object. Of
// several the first has it until it goes, or steps back because it leads nowhere (idle); then the next has it at once.
// Used by LrpSource, on its thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::router {

template <class Slot, class Value>
class LrpSlots {
public:
    // What whoever has the slot says goes through these.
    LrpSlots(std::function<void(Value)> put, std::function<void(const Slot&, const std::string& mark)> erase)
        : put_(std::move(put)), erase_(std::move(erase)) {}

    // `mark` is kept for erase: what else names the value.
    void put(const std::string& object, Slot slot, Value value, bool idle, std::string mark) {
        auto known = objects_.find(object);
        if (known != objects_.end() && known->second->first != slot) {
            erase(object);
            known = objects_.end();
        }
        const auto at = slots_.try_emplace(std::move(slot)).first;
        if (known == objects_.end()) {
            objects_.emplace(object, at);
            ++at->second.objects;
        }
        auto& held = at->second;
        const bool own = held.holder.empty() || held.holder == object;
        if (!own && idle) {
            stop_waiting(held, object);
        } else if (!own && !held.idle) {
            if (!held.waiting) held.waiting = std::make_unique<Waiting>();
            held.waiting->insert_or_assign(object, std::pair(std::move(value), std::move(mark)));
        } else if (own && idle && held.waiting) {
            promote(held);
        } else {
            hold(held, object, std::move(value), std::move(mark), idle);
        }
    }

    void erase(const std::string& object) {
        const auto known = objects_.find(object);
        if (known == objects_.end()) return;
        const auto at = known->second;
        objects_.erase(known);
        auto& held = at->second;
        --held.objects;
        if (held.holder != object) {
            stop_waiting(held, object);
        } else if (held.waiting) {
            promote(held);
        } else {
            erase_(at->first, held.mark);
            held.holder.clear();
        }
        if (held.objects == 0) slots_.erase(at);
    }

    template <class Keys>
    void keep_only(const Keys& keys) {
        std::vector<std::string> gone;
        for (const auto& [object, slot] : objects_) {
            if (!keys.contains(object)) gone.push_back(object);
        }
        for (const auto& object : gone) erase(object);
    }

    [[nodiscard]] const std::string* holder(const Slot& slot) const {
        const auto found = slots_.find(slot);
        return found != slots_.end() && !found->second.holder.empty() ? &found->second.holder : nullptr;
    }
    template <class Call>
    void each(const Call& call) const {
        for (const auto& [slot, held] : slots_) call(slot);
    }
    [[nodiscard]] std::size_t size() const { return objects_.size(); }

private:
    using Waiting = std::map<std::string, std::pair<Value, std::string>>;  // by object; never empty
    struct Held {
        std::string holder, mark;
        bool idle = false;
        std::size_t objects = 0;
        std::unique_ptr<Waiting> waiting;
    };

    void hold(Held& held, const std::string& object, Value value, std::string mark, bool idle) {
        held.holder = object;
        held.mark = std::move(mark);
        held.idle = idle;
        put_(std::move(value));
    }
    void promote(Held& held) {
        auto first = held.waiting->extract(held.waiting->begin());
        if (held.waiting->empty()) held.waiting.reset();
        hold(held, first.key(), std::move(first.mapped().first), std::move(first.mapped().second), false);
    }
    static void stop_waiting(Held& held, const std::string& object) {
        if (!held.waiting) return;
        held.waiting->erase(object);
        if (held.waiting->empty()) held.waiting.reset();
    }

    std::function<void(Value)> put_;
    std::function<void(const Slot&, const std::string&)> erase_;
    std::map<Slot, Held> slots_;
    std::map<std::string, typename std::map<Slot, Held>::iterator> objects_;
};

}  // namespace fairlead::router
