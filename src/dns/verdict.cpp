#include "dns/verdict.h"

#include <algorithm>

namespace fairlead::dns {

std::string_view reason_of(VerdictState state) {
    switch (state) {
        case VerdictState::served:
            return "Served";
        case VerdictState::no_zone:
            return "NoZone";
        case VerdictState::conflict:
            return "Conflict";
        case VerdictState::invalid:
            return "Invalid";
    }
    return "";
}

void VerdictBoard::call(const std::function<void()>& which) {
    const std::lock_guard lock(calls_mutex_);
    if (which) which();
}

void VerdictBoard::on_wanted(std::function<void()> call) {
    const std::lock_guard lock(calls_mutex_);
    wanted_ = std::move(call);
}

void VerdictBoard::on_news(std::function<void()> call) {
    const std::lock_guard lock(calls_mutex_);
    news_ = std::move(call);
}

bool VerdictBoard::offer(const VerdictKey& key, ObjectVerdict verdict) {
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        const auto at = waiting_.find(key);
        if (at != waiting_.end()) {
            at->second = std::move(verdict);
            return true;  // its news was told
        }
        if (waiting_.size() >= limits_.verdicts) {
            refused_ = true;
            return false;
        }
        first = waiting_.empty();
        waiting_.emplace(key, std::move(verdict));
        order_.push_back(key);
    }
    if (first) call(news_);
    return true;
}

bool VerdictBoard::has_room() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size() < limits_.verdicts;
}

std::vector<std::pair<VerdictKey, ObjectVerdict>> VerdictBoard::take(std::size_t max) {
    std::vector<std::pair<VerdictKey, ObjectVerdict>> taken;
    bool room = false;
    {
        const std::lock_guard lock(mutex_);
        const auto count = std::min(max, order_.size());
        taken.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            auto node = waiting_.extract(order_.front());
            order_.pop_front();
            taken.emplace_back(std::move(node.key()), std::move(node.mapped()));
        }
        // Not for each place that becomes free: half of it at once.
        room = refused_ && waiting_.size() <= limits_.verdicts / 2;
        if (room) refused_ = false;
    }
    if (room) call(wanted_);
    return taken;
}

void VerdictBoard::ask(const Name& name) {
    {
        const std::lock_guard lock(mutex_);
        if (questions_.size() >= limits_.names || !questions_.insert(name).second) return;
    }
    call(wanted_);
}

std::vector<Name> VerdictBoard::take_questions() {
    const std::lock_guard lock(mutex_);
    std::vector<Name> taken(questions_.begin(), questions_.end());
    questions_.clear();
    return taken;
}

void VerdictBoard::report(ChainReport report) {
    {
        const std::lock_guard lock(mutex_);
        if (reports_.size() >= limits_.names) return;
        reports_.push_back(std::move(report));
    }
    call(news_);
}

std::vector<ChainReport> VerdictBoard::take_reports() {
    const std::lock_guard lock(mutex_);
    std::vector<ChainReport> taken(std::make_move_iterator(reports_.begin()), std::make_move_iterator(reports_.end()));
    reports_.clear();
    return taken;
}

}  // namespace fairlead::dns
