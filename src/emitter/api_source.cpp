#include "emitter/api_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "lrp/read.h"
#include "resource/kinds/actual_lrp.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/lease.h"

namespace fairlead::emitter {

namespace {

constexpr std::size_t max_objects = 1'000'000;  // of one kind
constexpr std::size_t max_told = 1'000;
constexpr std::chrono::seconds on_the_way{5};  // at most, what a watch tells
// Leases of this label are domains; its value says nothing, as a domain may have any name.
constexpr std::string_view domain_label = resource::domain_mark;
constexpr std::string_view domain_annotation = resource::domain_mark;

// Our own API is near, and everything waits for it.
cluster::FollowerOptions follower_options() {
    cluster::FollowerOptions options;
    options.max_objects = max_objects;
    options.arrivals_per_step = 256;
    options.backoff = {.base = std::chrono::milliseconds(100), .cap = std::chrono::seconds(2)};
    return options;
}

cluster::Topic topic_of(const resource::Kind& kind, const std::string& space, std::string query = {}) {
    auto topic = cluster::topic_of(kind);
    topic.query = std::move(query);
    if (!space.empty())
        topic.path = fmt::format("/apis/{}/{}/namespaces/{}/{}", kind.group, kind.version, space, kind.plural);
    return topic;
}

// The identity, as the book needs it to take it out.
lrp::Desired identity(const lrp::Desired& desired) {
    lrp::Desired out;
    out.key = desired.key;
    out.domain = desired.domain;
    out.tag = desired.tag;
    return out;
}
lrp::Actual identity(const lrp::Actual& actual) {
    lrp::Actual out;
    out.process = actual.process;
    out.index = actual.index;
    out.evacuating = actual.evacuating;
    out.instance_guid = actual.instance_guid;
    out.tag = actual.tag;
    return out;
}

// One that was deleted and made again while nobody told us has another uid: the one before is gone, for the book too.
bool same(const lrp::Desired& a, const lrp::Desired& b) { return a.key == b.key && a.tag.epoch == b.tag.epoch; }
bool same(const lrp::Actual& a, const lrp::Actual& b) {
    return a.process == b.process && a.index == b.index && a.evacuating == b.evacuating &&
           a.instance_guid == b.instance_guid && a.tag.epoch == b.tag.epoch;
}

}  // namespace

template <class T, class Packed>
void ApiSource::Shelf<T, Packed>::put(const std::string& key, const json::Value& object) {
    auto read = read_(object);
    if (!read) {
        // What was known of it before counts on.
        if (unreadable_.size() < max_told && unreadable_.insert(key).second) {
            source_.log_.warn("object is left out", {{"object", key}, {"why", read.error().text()}});
        }
        return;
    }
    unreadable_.erase(key);
    orphans_.erase(key);
    const auto found = held_.find(key);
    if (found != held_.end()) {
        const auto before = found->second.unpacked();
        if (!same(before, *read)) source_.book_.erase(before);
    }
    held_.insert_or_assign(key, Packed(identity(*read)));
    source_.book_.put(std::move(*read));
}

template <class T, class Packed>
void ApiSource::Shelf<T, Packed>::erase(const std::string& key) {
    unreadable_.erase(key);
    orphans_.erase(key);
    const auto found = held_.find(key);
    if (found == held_.end()) return;
    source_.book_.erase(found->second.unpacked());
    held_.erase(found);
}

template <class T, class Packed>
void ApiSource::Shelf<T, Packed>::keep_only(const std::set<std::string>& keys) {
    for (const auto& [key, lrp] : held_) {
        if (!keys.contains(key)) orphans_.insert(key);
    }
    expire();
    ++source_.figures_.passes;
}

template <class T, class Packed>
void ApiSource::Shelf<T, Packed>::expire() {
    const auto orphans = orphans_;
    for (const auto& key : orphans) {
        if constexpr (std::is_same_v<T, lrp::Desired>) {
            const auto lrp = held_.at(key).unpacked();
            if (source_.domains_.stale(lrp.key.scope, lrp.domain, source_.clock_.now())) continue;
        }
        erase(key);
    }
}

void ApiSource::Domains::put(const std::string& key, const json::Value& object) {
    const auto* annotations = json::find(object, "metadata.annotations");
    const auto* map = annotations != nullptr ? annotations->if_object() : nullptr;
    const auto* domain = map != nullptr ? map->if_contains(domain_annotation) : nullptr;
    if (domain == nullptr || !domain->is_string()) return erase(key);
    Held held;
    held.space = json::string_at(object, "metadata.namespace");
    held.domain = json::view(domain->get_string());
    const auto renewed = from_rfc3339(json::string_at(object, "spec.renewTime"));
    const auto seconds = json::int_at(object, "spec.leaseDurationSeconds");
    if (renewed && seconds) held.until = *renewed + std::chrono::seconds(*seconds);
    held_.insert_or_assign(key, std::move(held));
    source_.desired_.expire();
}

void ApiSource::Domains::erase(const std::string& key) {
    if (held_.erase(key) > 0) source_.desired_.expire();
}

void ApiSource::Domains::keep_only(const std::set<std::string>& keys) {
    std::erase_if(held_, [&keys](const auto& entry) { return !keys.contains(entry.first); });
    source_.desired_.expire();
}

bool ApiSource::Domains::stale(const std::string& space, const std::string& domain, WallTime now) const {
    const auto found = std::find_if(held_.begin(), held_.end(), [&](const auto& entry) {
        return entry.second.space == space && entry.second.domain == domain;
    });
    return found != held_.end() && found->second.until && *found->second.until < now;
}

std::set<std::string> ApiSource::Domains::all_stale(WallTime now) const {
    std::set<std::string> stale;
    for (const auto& [key, held] : held_) {
        if (held.until && *held.until < now) stale.insert(held.domain);
    }
    return stale;
}

ApiSource::ApiSource(const std::string& space, cluster::Link& link, lrp::Book& book, const Clock& clock, Random& random,
                     Log& log, const std::function<void()>& wake)
    : book_(book),
      clock_(clock),
      log_(log),
      began_(clock.monotonic()),
      domains_(*this),
      desired_(*this, lrp::desired_of_object),
      actual_(*this, lrp::actual_of_object),
      topics_{
          cluster::ListWatch(topic_of(resource::lease_kind(), space, "labelSelector=" + percent_encode(domain_label)),
                             {link, clock, random, domains_, wake}, follower_options()),
          cluster::ListWatch(topic_of(resource::desired_lrp_kind(), space), {link, clock, random, desired_, wake},
                             follower_options()),
          cluster::ListWatch(topic_of(resource::actual_lrp_kind(), space), {link, clock, random, actual_, wake},
                             follower_options())} {}

Step ApiSource::step() {
    const bool before = complete();
    Step all;
    for (auto& topic : topics_) {
        const auto step = topic.step();
        all.more = all.more || step.more;
        if (step.due && (!all.due || *step.due < *all.due)) all.due = step.due;
    }
    if (!before && complete()) {
        figures_.pass_seconds = std::chrono::duration<double>(clock_.monotonic() - began_).count();
    }
    return all;
}

bool ApiSource::complete() const {
    // Without the right to read Leases no domain is stale.
    return topics_[of_desired].listed() && topics_[of_actual].listed() &&
           (topics_[of_domains].listed() || topics_[of_domains].refused());
}

bool ApiSource::current() const { return complete() && topics_[of_desired].up() && topics_[of_actual].up(); }

// Somebody tells of changes, or has done so lately enough to be believed. What cannot be read may be what is missed.
traffic::Certainty ApiSource::certainty() const {
    const bool whole = desired_.unreadable_.empty() && actual_.unreadable_.empty();
    const auto lately = clock_.monotonic() - follower_options().silence - on_the_way;
    return {.as_of = whole ? lately : MonotonicTime{},
            .fresh = traffic::Certainty::Domains::all_but,
            .domains = domains_.all_stale(clock_.now())};
}

std::string ApiSource::problem() const {
    for (const auto& topic : topics_) {
        if (!topic.problem().empty()) return topic.problem();
    }
    return {};
}

SourceFigures ApiSource::figures() const {
    auto figures = figures_;
    for (const auto& topic : topics_) figures.events += topic.events();
    return figures;
}

}  // namespace fairlead::emitter
