// Against a model that is obviously right: a list of networks, of which the longest that holds an address counts.
#include "geo/intervals.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "geo/table.h"

namespace fairlead::geo {
namespace {

template <class Number>
constexpr unsigned width = sizeof(Number) * 8;

template <class Number>
Number first_of(Number address, unsigned length) {
    return length == 0 ? Number{0}
                       : static_cast<Number>(address >> (width<Number> - length) << (width<Number> - length));
}

template <class Number>
std::uint32_t model(const std::vector<Network<Number>>& networks, Number address) {
    std::uint32_t value = 0;
    int longest = -1;
    for (const auto& network : networks) {
        const auto length = static_cast<int>(network.length);
        if (first_of(address, network.length) != network.first || length < longest) continue;
        longest = length;
        value = network.value;
    }
    return value;
}

// Whether all addresses of a network have one value: the value can change only where a network of the model begins or
// ends.
template <class Number, class ValueAt>
bool uniform(const std::vector<Network<Number>>& networks, const ValueAt& value_at, Number address, unsigned length) {
    const Network<Number> block{first_of(address, length), length, 0};
    for (const auto& network : networks) {
        for (const auto at : {network.first, static_cast<Number>(network.last() + 1)}) {
            if (at >= block.first && at <= block.last() && value_at(at) != value_at(block.first)) return false;
        }
    }
    return true;
}

template <class Number>
std::vector<Network<Number>> some_networks() {
    // Few values and few addresses, so that networks lie within one another and beside one another at one value.
    std::vector<Network<Number>> networks;
    const auto count = *rc::gen::inRange(0, 12);
    for (int i = 0; i < count; ++i) {
        const auto seed = static_cast<Number>(*rc::gen::inRange<std::uint32_t>(0, 64)) << (width<Number> - 8);
        const auto low = static_cast<Number>(*rc::gen::inRange<std::uint32_t>(0, 4));
        const auto length =
            *rc::gen::element<unsigned>(0, 1, 2, 3, 4, 5, 6, 7, 8, width<Number> - 2, width<Number> - 1, width<Number>);
        networks.push_back(
            {first_of(static_cast<Number>(seed | low), length), length, *rc::gen::inRange<std::uint32_t>(0, 3)});
    }
    return networks;
}

template <class Number>
void check_against_the_model() {
    const auto below = some_networks<Number>();
    const auto above = some_networks<Number>();
    auto intervals = overlay(overlay(Intervals<Number>(0), below), above);
    intervals.finish();
    for (std::size_t i = 1; i < intervals.size(); ++i) {
        RC_ASSERT(intervals.start(i - 1) < intervals.start(i));
        RC_ASSERT(intervals.value(i - 1) != intervals.value(i));
    }
    // What is above counts before what is long.
    const auto value_at = [&](Number address) {
        for (const auto& network : above) {
            if (first_of(address, network.length) == network.first) return model(above, address);
        }
        return model(below, address);
    };
    auto all = below;
    all.insert(all.end(), above.begin(), above.end());
    for (int i = 0; i < 20; ++i) {
        const auto address =
            static_cast<Number>(static_cast<Number>(*rc::gen::inRange<std::uint32_t>(0, 256)) << (width<Number> - 8) |
                                static_cast<Number>(*rc::gen::inRange<std::uint32_t>(0, 8)));
        const auto found = intervals.find(address);
        RC_ASSERT(found.value == value_at(address));
        RC_ASSERT(uniform(all, value_at, address, found.length));
        RC_ASSERT((found.length == 0 || !uniform(all, value_at, address, found.length - 1)));
    }
}

RC_GTEST_PROP(Intervals, FourAgreeWithTheModel, ()) { check_against_the_model<Number4>(); }
RC_GTEST_PROP(Intervals, SixAgreeWithTheModel, ()) { check_against_the_model<Number6>(); }

// The same through the table, for one list of networks: place and scope.
RC_GTEST_PROP(Table, AgreesWithTheModel, ()) {
    const auto networks = some_networks<Number4>();
    const std::vector<dns::Place> places{{}, {"EU", "DE", ""}, {"NA", "US", "US-CA"}};
    std::vector<Override> overrides;
    for (const auto& network : networks) {
        dns::Address address;
        for (unsigned i = 0; i < 4; ++i) {
            address.bytes.at(i) = static_cast<unsigned char>(network.first >> (24U - 8U * i));
        }
        overrides.push_back({{address, network.length}, places.at(network.value)});
    }
    const auto table = Table::load({}, overrides).value();
    const auto value_at = [&](Number4 address) { return model(networks, address); };
    for (int i = 0; i < 20; ++i) {
        const auto top = *rc::gen::inRange<unsigned>(0, 256);
        const auto low = *rc::gen::inRange<unsigned>(0, 8);
        dns::Address address;
        address.bytes[0] = static_cast<unsigned char>(top);
        address.bytes[3] = static_cast<unsigned char>(low);
        const auto number = top << 24U | low;
        const auto found = table->find(address);
        RC_ASSERT(*found.place == dns::key_of(places.at(value_at(number))));
        RC_ASSERT(uniform(networks, value_at, number, found.scope));
        RC_ASSERT((found.scope == 0 || !uniform(networks, value_at, number, found.scope - 1)));
    }
}

}  // namespace
}  // namespace fairlead::geo
