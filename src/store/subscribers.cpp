#include "store/subscribers.h"

namespace fairlead::store {

class Subscribers::Handle final : public Subscription {
public:
    Handle(std::shared_ptr<Subscribers> owner, std::uint64_t id, std::shared_ptr<Entry> entry)
        : owner_(std::move(owner)), id_(id), entry_(std::move(entry)) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() override {
        {
            const std::lock_guard waits_for_a_running_call(entry_->running);
            entry_->ended = true;
        }
        const std::lock_guard lock(owner_->mutex_);
        owner_->entries_.erase(id_);
        owner_->in_order_.reset();
    }

private:
    std::shared_ptr<Subscribers> owner_;
    std::uint64_t id_;
    std::shared_ptr<Entry> entry_;
};

std::unique_ptr<Subscription> Subscribers::subscribe(std::shared_ptr<Subscribers> self, std::function<void()> wake) {
    auto entry = std::make_shared<Entry>();
    entry->wake = std::move(wake);
    std::uint64_t id = 0;
    {
        const std::lock_guard lock(self->mutex_);
        id = self->next_id_++;
        self->entries_.emplace(id, entry);
        self->in_order_.reset();
    }
    return std::make_unique<Handle>(std::move(self), id, std::move(entry));
}

void Subscribers::wake_all() {
    std::shared_ptr<const Entries> entries;
    {
        const std::lock_guard lock(mutex_);
        if (entries_.empty()) return;
        if (!in_order_) {
            auto list = std::make_shared<Entries>();
            list->reserve(entries_.size());
            for (const auto& [id, entry] : entries_) list->push_back(entry);
            in_order_ = std::move(list);
        }
        entries = in_order_;
    }
    for (const auto& entry : *entries) {
        const std::lock_guard lock(entry->running);
        if (!entry->ended) entry->wake();
    }
}

}  // namespace fairlead::store
