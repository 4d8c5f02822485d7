#include "plan/owner_index.h"

#include <bit>

#include "base/text.h"
#include "plan/crypt.h"
#include "plan/name_hash.h"

namespace fairlead::plan {

OwnerIndex::OwnerIndex(std::span<const dns::Endpoint> sets, std::span<const Affix> affixes,
                       std::string_view encryption_key, Lookup lookup)
    : sets_(sets) {
    texts_.reserve(sets.size());
    for (std::uint32_t set = 0; set < sets.size(); ++set) {
        for (std::uint32_t target = 0; target < sets[set].targets.size(); ++target) {
            add_target(set, target, affixes, encryption_key);
        }
    }
    if (lookup == Lookup::by_name) link_all();
}

bool OwnerIndex::is_owner_text(std::string_view target, std::string_view encryption_key) {
    // Nearly all are told apart by their first bytes.
    constexpr std::string_view start = "heritage=external-dns,";
    if (target.starts_with('"') && target.substr(1).starts_with(start)) return true;
    std::string scratch;
    const auto plain = txt_bytes(target, scratch);
    OwnerFields fields;
    if (!encryption_key.empty()) {
        if (const auto text = decrypt_owner_text(plain, encryption_key)) return read_owner_fields(*text, fields);
    }
    return plain.find("heritage=") != std::string_view::npos && read_owner_fields(plain, fields);
}

void OwnerIndex::add_target(std::uint32_t set, std::uint32_t target, std::span<const Affix> affixes,
                            std::string_view key) {
    std::string scratch;
    auto plain = txt_bytes(sets_[set].targets[target], scratch);
    IndexedText text;
    text.set = set;
    text.target = target;
    if (!key.empty()) {
        if (auto decrypted = decrypt_owner_text(plain, key)) {
            text.encrypted = true;
            plain = made_.emplace_back(std::move(*decrypted));
        }
    }
    if (!text.encrypted && plain.data() == scratch.data()) plain = made_.emplace_back(plain);
    if (!read_owner_fields(plain, fields_)) return;
    text.plain = plain;
    text.owner = fields_.owner;
    if (fields_.listed) {
        text.form = TextForm::shared;
        text.detail = fields_.records;
        auto name = fields_.name;
        if (name.find('%') != std::string_view::npos) {
            name = made_.emplace_back(percent_decode(name, false).value_or(std::string(name)));
        }
        text.name = normal_(name).text;
        texts_.push_back(text);
        return;
    }
    const auto place = normal_(sets_[set].dns_name).text;
    for (const auto& affix : affixes) {
        const auto reading = read_place(affix, place, made_);
        if (!reading) continue;
        text.name = reading->name;
        text.detail = reading->type;
        text.form = reading->type.empty() ? TextForm::legacy : TextForm::typed;
        texts_.push_back(text);
        return;
    }
    // An ownership text at a place that no affix of ours explains is about nobody we know.
}

std::uint32_t OwnerIndex::find(std::string_view name) const {
    if (slots_.empty()) return 0;
    const auto hash = name_hash(name);
    const auto high = static_cast<std::uint32_t>(hash >> 32);
    for (auto at = hash & mask_; slots_[at].first != 0; at = (at + 1) & mask_) {
        if (slots_[at].hash == high && texts_[slots_[at].first - 1].name == name) return slots_[at].first;
    }
    return 0;
}

void OwnerIndex::link_all() {
    if (texts_.empty()) return;
    slots_.resize(std::bit_ceil(texts_.size() * 2));
    mask_ = slots_.size() - 1;
    for (std::uint32_t index = 1; index <= texts_.size(); ++index) {
        const auto hash = name_hash(texts_[index - 1].name);
        const auto high = static_cast<std::uint32_t>(hash >> 32);
        auto at = hash & mask_;
        while (slots_[at].first != 0 &&
               (slots_[at].hash != high || texts_[slots_[at].first - 1].name != texts_[index - 1].name)) {
            at = (at + 1) & mask_;
        }
        auto& slot = slots_[at];
        if (slot.first == 0) {
            slot = {high, index, index};
            texts_[index - 1].first = true;
        } else {
            texts_[slot.last - 1].next = index;
            slot.last = index;
        }
    }
}

}  // namespace fairlead::plan
