#include "emitter/part_reader.h"

#include "json/value.h"
#include "lrp/read.h"

namespace fairlead::emitter {

namespace {

constexpr std::size_t max_record_bytes = 8UL * 1024 * 1024;  // an LRP has at most 3 MiB

}  // namespace

PartReader::PartReader(ReceptorPart part) : part_(part), elements_(max_record_bytes) {}

Result<void> PartReader::take(std::string_view element, lrp::Snapshot& into) const {
    const auto value = json::parse(element);
    if (!value) return fail(value.error());
    switch (part_) {
        case ReceptorPart::desired: {
            auto lrp = lrp::desired_of_receptor(*value);
            if (!lrp) return fail(std::move(lrp.error()));
            into.desired.push_back(std::move(*lrp));
            break;
        }
        case ReceptorPart::actual: {
            auto lrp = lrp::actual_of_receptor(*value);
            if (!lrp) return fail(std::move(lrp.error()));
            into.actual.push_back(std::move(*lrp));
            break;
        }
        case ReceptorPart::domains:
            if (const auto* name = value->if_string()) into.fresh_domains.emplace(json::view(*name));
            break;
    }
    return {};
}

Result<lrp::Snapshot> PartReader::add(std::string_view bytes) {
    if (!state_) return fail(state_.error());
    lrp::Snapshot found;
    state_ = elements_.add(bytes, [&](std::string_view element) {
        const auto taken = take(element, found);
        if (!taken && read_.unreadable++ == 0) read_.first = taken.error().text();
    });
    if (!state_) return fail(state_.error());
    return found;
}

Result<PartRead> PartReader::end() const {
    if (!state_) return fail(state_.error());
    if (auto whole = elements_.end(); !whole) return fail(std::move(whole.error()));
    return read_;
}

}  // namespace fairlead::emitter
