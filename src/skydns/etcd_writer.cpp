#include "skydns/etcd_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "skydns/etcd_plan.h"

namespace fairlead::skydns {

EtcdWriter::EtcdWriter(EtcdOptions options, std::function<bool()> leading, const Clock& clock, Random& random, Log& log,
                       Metrics& metrics, EtcdWriterLimits limits, Etcd::Send send)
    : etcd_(std::move(options), std::move(send)),
      leading_(std::move(leading)),
      clock_(clock),
      random_(random),
      log_(log),
      limits_(limits),
      keys_(metrics.gauge("fairlead_skydns_etcd_keys", "Keys that are wanted in etcd.")),
      failing_(metrics.gauge("fairlead_skydns_etcd_failing", "1 while etcd cannot be written to.")),
      writes_(metrics.counter("fairlead_skydns_etcd_writes_total", "Keys that were put or removed in etcd.")),
      errors_(metrics.counter("fairlead_skydns_etcd_failures_total", "Calls of etcd that failed on all endpoints.")),
      comparisons_(metrics.counter("fairlead_skydns_etcd_comparisons_total",
                                   "How often all keys in etcd were read and compared.")) {}

void EtcdWriter::put(std::span<const Service> gone, std::span<const Service> come) {
    {
        const std::lock_guard lock(mutex_);
        const auto& prefix = etcd_.options().prefix;
        for (const auto& service : gone) {
            const auto key = key_of(prefix, {}, service);
            wanted_.erase(key);
            dirty_.insert(key);
        }
        for (const auto& service : come) {
            const auto key = key_of(prefix, {}, service);
            wanted_[key] = value_of(service);
            dirty_.insert(key);
        }
        keys_.set(static_cast<double>(wanted_.size()));
    }
    if (wake_) wake_();
}

void EtcdWriter::complete(const std::string& owner) {
    {
        const std::lock_guard lock(mutex_);
        if (owner_ == owner) return;
        owner_ = owner;
    }
    if (wake_) wake_();
}

bool EtcdWriter::is_complete() const {
    const std::lock_guard lock(mutex_);
    return !owner_.empty();
}

EtcdStanding EtcdWriter::standing() const {
    const std::lock_guard lock(mutex_);
    return standing_;
}

void EtcdWriter::say(EtcdStanding standing) {
    {
        const std::lock_guard lock(mutex_);
        if (standing_ == standing) return;
        standing_ = std::move(standing);
    }
    if (news_) news_();
}

Step EtcdWriter::step() {
    const auto now = clock_.monotonic();
    if (!leading_()) {
        // The lease is left to its end: whoever leads now puts the keys on his own.
        lease_ = 0;
        compared_ = false;
        todo_.clear();
        return {.more = false, .due = now + limits_.leading_again};
    }
    if (!is_complete()) return {};
    if (now < retry_at_) return {.more = false, .due = retry_at_};
    if (auto done = advance(now); !done) {
        failed(done.error(), now);
        return {.more = false, .due = retry_at_};
    }
    if (has_work()) return {.more = true, .due = {}};
    succeeded();
    return {.more = false, .due = std::min(renew_at_, audit_at_)};
}

// One call or a few; whatever is left shows in has_work().
Result<void> EtcdWriter::advance(MonotonicTime now) {
    if (auto kept = keep_lease(now); !kept) return kept;
    if (!compared_ || now >= audit_at_) return compare(now);
    return commit_some();
}

Result<void> EtcdWriter::keep_lease(MonotonicTime now) {
    if (lease_ != 0 && now < renew_at_) return {};
    if (lease_ != 0) {
        const auto alive = etcd_.keep_alive(lease_);
        if (!alive) return fail(alive.error());
        if (!*alive) lease_ = 0;
    }
    if (lease_ == 0) {
        const auto granted = etcd_.grant();
        if (!granted) return fail(granted.error());
        lease_ = *granted;
        compared_ = false;
    }
    renew_at_ = now + etcd_.options().lease / 3;
    return {};
}

Result<void> EtcdWriter::compare(MonotonicTime now) {
    const auto present = etcd_.read_all();
    if (!present) return fail(present.error());
    std::map<std::string, std::string> wanted;
    std::string owner;
    {
        const std::lock_guard lock(mutex_);
        owner = owner_;
        for (const auto& [key, value] : wanted_) wanted.emplace_hint(wanted.end(), key + owner, value);
        dirty_.clear();
    }
    const auto ops = plan(*present, wanted, etcd_.options().prefix, owner, lease_);
    todo_.assign(ops.begin(), ops.end());
    compared_ = true;
    audit_at_ = now + limits_.audit;
    comparisons_.add();
    return {};
}

Result<void> EtcdWriter::commit_some() {
    std::vector<Op> ops;
    while (!todo_.empty() && ops.size() < limits_.txn_ops) {
        ops.push_back(std::move(todo_.front()));
        todo_.pop_front();
    }
    if (ops.empty()) {
        const std::lock_guard lock(mutex_);
        while (!dirty_.empty() && ops.size() < limits_.txn_ops) {
            const auto key = dirty_.extract(dirty_.begin()).value();
            const auto found = wanted_.find(key);
            ops.push_back({key + owner_, found == wanted_.end() ? std::optional<std::string>() : found->second});
        }
    }
    if (!ops.empty()) {
        if (auto done = etcd_.commit(ops, lease_); !done) {
            compared_ = false;  // some of it may be there
            if (done.error().code == Errc::not_found) lease_ = 0;
            return done;
        }
        writes_.add(static_cast<double>(ops.size()));
    }
    return {};
}

bool EtcdWriter::has_work() const {
    const std::lock_guard lock(mutex_);
    return !compared_ || !todo_.empty() || !dirty_.empty();
}

void EtcdWriter::succeeded() {
    if (failures_ > 0) log_.info("etcd takes services again");
    failures_ = 0;
    failing_.set(0);
    say({.keys = EtcdStanding::Keys::current});
}

void EtcdWriter::failed(const Error& error, MonotonicTime now) {
    ++failures_;
    errors_.add();
    failing_.set(1);
    if (failures_ == 1) log_.warn("etcd does not take services, trying again", {{"why", error.text()}});
    retry_at_ = now + limits_.backoff.delay(failures_, random_);
    say({.keys = EtcdStanding::Keys::old, .why = error.text()});
}

}  // namespace fairlead::skydns
