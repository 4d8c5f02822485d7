// What keeps names of a zone from being as they should be, for its report: what fails, what is left alone, what is
// still to be done. Written anew whenever a name is looked at. Used by ZoneRunner; one thread at a time.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "plan/change.h"
#include "publish/order.h"

namespace fairlead::publish {

// All names are in plan::normal_name form.
class NameNotes {
public:
    void clear();
    void forget(const std::string& name);

    void failing(const std::string& name, const std::string& why) { problems_[name] = why; }
    void skipped(const std::string& name) { ++skips_[name]; }
    void to_do(const plan::Change& change);

    [[nodiscard]] const std::map<std::string, std::string>& problems() const { return problems_; }
    // Counts.
    void fill(ZoneReport& report) const;

private:
    std::map<std::string, std::string> problems_;
    std::map<std::string, std::size_t> skips_;
    std::map<std::string, std::array<std::size_t, 3>> to_do_;  // changes not made, by plan::Action
};

}  // namespace fairlead::publish
