#include "control/informer.h"

#include "base/log.h"
#include "base/random.h"

namespace fairlead::control {

Informer::Informer(const resource::Kind& kind, const InformerParts& parts, std::function<void()> wake)
    : kind_(kind),
      parts_(parts),
      table_(kind.table()),
      backoff_{.base = std::chrono::milliseconds(50), .cap = std::chrono::seconds(10)},
      news_(std::make_shared<std::atomic<bool>>(true)),
      subscription_(parts.store.subscribe(table_, [news = news_, wake = std::move(wake)] {
          if (!news->exchange(true)) wake();
      })) {}

void Informer::add_handler(Handler handler) {
    handlers_.push_back(std::move(handler));
    for (const auto& held : objects_) handlers_.back()({}, held.object);
}

const Index& Informer::add_index(KeysOf keys_of) {
    auto& added = indexes_.emplace_back(std::make_unique<KeyedIndex>(KeyedIndex{std::move(keys_of), {}}));
    for (const auto& held : objects_) added->index.set(held.object->name(), added->keys_of(*held.object));
    return added->index;
}

store::ObjectRef Informer::get(std::string_view key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? store::ObjectRef() : found->object;
}

void Informer::scan(std::string_view prefix, std::string_view from,
                    const std::function<bool(const store::ObjectRef&)>& visit) const {
    for (auto at = objects_.lower_bound(std::max(prefix, from)); at != objects_.end(); ++at) {
        if (!at->object->name().starts_with(prefix) || !visit(at->object)) return;
    }
}

bool Informer::caught_up(store::Revision revision) {
    if (synced_ && !listing_ && up_to_ >= revision) return true;
    news_->store(true);
    return false;
}

bool Informer::has_news() const {
    if (retry_at_) return parts_.clock.monotonic() >= *retry_at_;
    return listing_ || !cursor_ || news_->load();
}

void Informer::pump(std::size_t max) {
    retry_at_.reset();
    if (cursor_) return follow(max);
    if (!listing_) {
        auto snapshot = parts_.store.snapshot(table_);
        if (!snapshot) return failed("list", snapshot.error());
        listing_ = std::move(*snapshot);
        listed_to_.clear();
    }
    list(max);
}

void Informer::list(std::size_t max) {
    std::vector<store::ObjectRef> page;
    page.reserve(max);
    listing_->scan("", listed_to_, [&](const store::ObjectRef& object) {
        page.push_back(object);
        return page.size() < max;
    });
    for (const auto& object : page) {
        erase_between(listed_to_, object->name());
        put(object);
        listed_to_.assign(object->name()).push_back('\0');  // the first name after it
    }
    if (page.size() == max) return;
    erase_between(listed_to_, {});
    const auto revision = listing_->revision();
    listing_.reset();
    auto cursor = parts_.store.watch(table_, revision);
    // Compacted since we took the snapshot: the next pump lists again.
    if (!cursor) return failed("watch", cursor.error());
    cursor_ = std::move(*cursor);
    news_->store(true);
    up_to_ = revision;
    synced_ = true;
    failures_ = 0;
}

void Informer::follow(std::size_t max) {
    // Cleared before looking: a change that comes while we look sets it again.
    news_->store(false);
    auto batch = cursor_->next(max);
    if (!batch) {
        if (batch.error().code == Errc::compacted) {
            ++relists_;
            parts_.log.info("watch fell behind, listing again", {{"table", table_}, {"after", up_to_}});
            cursor_.reset();
            return;
        }
        // The cursor's place is not known any more; the list that follows finds what was missed.
        cursor_.reset();
        return failed("watch", batch.error());
    }
    failures_ = 0;
    for (const auto& event : batch->events) {
        const auto held = objects_.find(event.object->name());
        if (held != objects_.end() && held->object->modified() >= event.revision) continue;
        if (!event.removed) {
            put(event.object);
        } else if (held != objects_.end()) {
            erase(held);
        }
    }
    up_to_ = std::max(up_to_, batch->up_to);
    if (!batch->events.empty()) news_->store(true);  // only an empty batch says that there is no more
}

void Informer::put(const store::ObjectRef& object) {
    const auto held = objects_.find(object->name());
    if (held == objects_.end()) {
        objects_.insert(Held{object});
        return changed({}, object);
    }
    if (held->object->modified() == object->modified()) return;
    const auto before = std::exchange(held->object, object);
    changed(before, object);
}

void Informer::erase(Objects::iterator at) {
    const auto before = at->object;
    objects_.erase(at);
    changed(before, {});
}

void Informer::erase_between(std::string_view from, std::string_view to) {
    auto at = objects_.lower_bound(from);
    while (at != objects_.end() && (to.empty() || at->object->name() < to)) erase(at++);
}

void Informer::changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    for (auto& keyed : indexes_) {
        if (after) {
            keyed->index.set(after->name(), keyed->keys_of(*after));
        } else {
            keyed->index.erase(before->name());
        }
    }
    for (const auto& handler : handlers_) handler(before, after);
}

void Informer::failed(std::string_view what, const Error& error) {
    ++failures_;
    retry_at_ = parts_.clock.monotonic() + backoff_.delay(failures_, parts_.random);
    parts_.log.warn("informer cannot read the store",
                    {{"table", table_}, {"what", what}, {"why", error.text()}, {"failures", failures_}});
}

}  // namespace fairlead::control
