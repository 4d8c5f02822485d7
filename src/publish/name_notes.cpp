#include "publish/name_notes.h"

#include "plan/plan.h"

namespace fairlead::publish {

void NameNotes::clear() {
    problems_.clear();
    skips_.clear();
    to_do_.clear();
}

void NameNotes::forget(const std::string& name) {
    problems_.erase(name);
    skips_.erase(name);
    to_do_.erase(name);
}

void NameNotes::to_do(const plan::Change& change) {
    ++to_do_[plan::normal_name(change.subject().dns_name)].at(static_cast<std::size_t>(change.action));
}

void NameNotes::fill(ZoneReport& report) const {
    for (const auto& [name, counts] : to_do_) {
        report.creates += counts[static_cast<std::size_t>(plan::Action::create)];
        report.updates += counts[static_cast<std::size_t>(plan::Action::update)];
        report.deletes += counts[static_cast<std::size_t>(plan::Action::remove)];
    }
    for (const auto& [name, count] : skips_) report.skipped += count;
}

}  // namespace fairlead::publish
