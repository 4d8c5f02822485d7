// Whose a record is, by the texts about its name. Private to the registry; pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dns/endpoint.h"
#include "plan/owner_index.h"

namespace fairlead::plan {

// Whether external-dns wrote the ownership of this record under the type CNAME before 0.22: an alias of type A.
bool is_alias_address(const dns::Endpoint& record);

// What a shared text says about one record; the entry is a view of its list. Nothing: does not name it.
bool find_entry(std::string_view records, std::string_view type, std::string_view set_identifier,
                std::string_view& entry);

// The texts that decide: those of the best form, which contradict each other if their owners differ. A text in the
// shared form and one under a typed name count alike; then one under "cname-" of an alias; then a legacy name, which
// never owns AAAA.
struct Claims {
    std::vector<std::uint32_t> texts;
    bool contradicted = false;
};
class ClaimReader {
public:
    ClaimReader(const OwnerIndex& index, std::string_view wildcard_replacement)
        : index_(index), wildcard_(wildcard_replacement) {}
    // `name` is the record's in normal form. A name that may have lent its place to a wildcard has texts of its own
    // only if `wildcard_is_there` is false. The result lives until the next call.
    const Claims& of(const dns::Endpoint& record, std::string_view name, bool wildcard_is_there);
    [[nodiscard]] bool may_be_replaced(std::string_view name) const {
        return !wildcard_.empty() && first_label(name) == wildcard_;
    }

private:
    void look(std::string_view name, const dns::Endpoint& record, bool affixed);
    const OwnerIndex& index_;
    std::string_view wildcard_;
    Claims claims_;
    int best_ = 0;
    std::uint32_t hint_ = 0;
};

// The entries of a list in the shared form.
template <class F>
void each_entry(std::string_view records, F&& f) {
    while (!records.empty()) {
        const auto space = std::min(records.find(' '), records.size());
        if (space > 0) f(records.substr(0, space));
        records.remove_prefix(std::min(space + 1, records.size()));
    }
}

}  // namespace fairlead::plan
