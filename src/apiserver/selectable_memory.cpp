#include "apiserver/selectable_memory.h"

#include <functional>

#include "apiserver/object_bytes.h"

namespace fairlead::apiserver {

namespace {

// Of one string in a map, and of one version here, with what the allocator adds.
constexpr std::size_t string_bytes = 100, version_bytes = 300;

std::size_t bytes_of(const resource::Selectable& selectable) {
    std::size_t bytes = version_bytes;
    for (const auto* texts : {&selectable.labels, &selectable.fields}) {
        for (const auto& [key, value] : *texts) bytes += string_bytes + key.size() + value.size();
    }
    return bytes;
}

}  // namespace

std::size_t SelectableMemory::Hash::operator()(const Version& version) const {
    return std::hash<std::string_view>()(version.name) ^ (std::hash<store::Revision>()(version.modified) * 31);
}

std::shared_ptr<const resource::Selectable> SelectableMemory::of(const resource::Kind& kind,
                                                                 const store::Object& object) {
    {
        const std::lock_guard lock(mutex_);
        const auto known = entries_.find({&kind, object.modified(), object.name()});
        if (known != entries_.end()) return known->second->selectable;
    }
    const auto value = parse_object(object);
    if (!value) return nullptr;
    auto entry = std::make_unique<Entry>();
    entry->name = object.name();
    entry->selectable = std::make_shared<resource::Selectable>(resource::selectable_of(*value, kind));
    entry->bytes = entry->name.size() + bytes_of(*entry->selectable);
    auto selectable = entry->selectable;

    const std::lock_guard lock(mutex_);
    ++parsed_;
    if (entry->bytes > max_bytes_) return selectable;
    const Version version{&kind, object.modified(), entry->name};
    const auto bytes = entry->bytes;
    // Another thread may have been as quick.
    if (!entries_.try_emplace(version, std::move(entry)).second) return selectable;
    order_.push_back(version);
    for (bytes_ += bytes; bytes_ > max_bytes_; order_.pop_front()) {
        const auto oldest = entries_.find(order_.front());
        bytes_ -= oldest->second->bytes;
        entries_.erase(oldest);
    }
    return selectable;
}

std::size_t SelectableMemory::parsed() const {
    const std::lock_guard lock(mutex_);
    return parsed_;
}

}  // namespace fairlead::apiserver
