#include "dnsserver/entry.h"

#include <algorithm>
#include <array>

#include "dns/bytes.h"
#include "dns/wire.h"
#include "dnsserver/hash.h"

namespace fairlead::dnsserver {

namespace {

using dns::class_internet;
constexpr unsigned pointer_to_question = 0xc00c;
constexpr std::size_t served_fixed_bytes = 12;  // owner as a pointer, type, class, TTL, length of the data

template <class T>
void append(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Where in the data of a record the name begins that ends it.
std::size_t name_at(std::uint16_t type) { return type == static_cast<std::uint16_t>(dns::RecordType::mx) ? 2 : 0; }

void append_record_head(std::string& out, const RecordHead& head) {
    append(out, head.target_hash);
    append(out, head.size);
    append(out, head.keep);
    append(out, head.shared);
}

class Compiler {
public:
    Compiler(const dns::Name& name, std::uint64_t hash_seed, const Entry::CounterOf& counter_of)
        : seed_(hash_seed), counter_of_(counter_of), owner_(name.wire()) {
        // The question that a wildcard answers has another first label.
        if (name.is_wildcard()) owner_.remove_prefix(2);
    }

    void add_plain(std::uint16_t type, const dns::Variant& variant, std::string& out) const {
        add_records(type, variant, out);
    }
    void add_chosen(std::uint16_t type, std::vector<dns::Variant> variants, std::size_t base, std::string& out) const;

private:
    void add_records(std::uint16_t type, const dns::Variant& variant, std::string& out) const;
    void add_record(std::uint16_t type, std::uint32_t ttl, const std::string& data, std::string& out) const;

    std::uint64_t seed_;
    const Entry::CounterOf& counter_of_;
    std::string_view owner_;
};

void Compiler::add_record(std::uint16_t type, std::uint32_t ttl, const std::string& data, std::string& out) const {
    if (!ends_in_name(type)) {
        dns::put16(out, pointer_to_question);
        dns::put16(out, type);
        dns::put16(out, class_internet);
        dns::put32(out, ttl);
        dns::put16(out, static_cast<unsigned>(data.size()));
        out += data;
        return;
    }
    const auto at = name_at(type);
    const auto target = std::string_view(data).substr(at);
    const auto suffix = shared_suffix(target, owner_);
    RecordHead head;
    head.size = static_cast<std::uint16_t>(data.size());
    head.shared = static_cast<std::uint8_t>(suffix.labels);
    head.keep = static_cast<std::uint16_t>(suffix.labels == 0 ? data.size() : at + suffix.before);
    if (type == static_cast<std::uint16_t>(dns::RecordType::cname)) head.target_hash = hash_name(target, seed_);
    append_record_head(out, head);
    out += data;
}

void Compiler::add_records(std::uint16_t type, const dns::Variant& variant, std::string& out) const {
    RecordsHead head;
    head.ttl = variant.ttl;
    head.all = static_cast<std::uint16_t>(variant.data.size());
    std::string healthy, others;
    for (const auto& data : variant.data) {
        const bool well = !variant.unhealthy.contains(data);
        if (well) ++head.healthy;
        add_record(type, variant.ttl, data, well ? healthy : others);
    }
    head.served_bytes = static_cast<std::uint32_t>(head.healthy != 0 ? healthy.size() : others.size());
    append(out, head.ttl);
    append(out, head.healthy);
    append(out, head.all);
    append(out, head.served_bytes);
    out += healthy;
    out += others;
}

void Compiler::add_chosen(std::uint16_t type, std::vector<dns::Variant> variants, std::size_t base,
                          std::string& out) const {
    const auto place_of = [](const dns::Variant& one) { return one.geo ? one.geo->key() : dns::everywhere_key; };
    std::sort(variants.begin(), variants.end(), [&](const auto& a, const auto& b) {
        return std::pair(place_of(a), a.set_identifier) < std::pair(place_of(b), b.set_identifier);
    });
    const std::size_t heads_at = out.size();
    out.append(variants.size() * variant_head_bytes, '\0');
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const auto& variant = variants[i];
        VariantHead head;
        head.place = place_of(variant);
        head.weight = static_cast<std::uint8_t>(variant.weight.value_or(dns::unstated_weight));
        head.flags = static_cast<std::uint8_t>((variant.geo ? VariantHead::has_place : 0) |
                                               (variant.weight ? VariantHead::has_weight : 0));
        head.counter = counter_of_(static_cast<dns::RecordType>(type), variant.set_identifier);
        head.identifier = static_cast<std::uint32_t>(base + out.size());
        head.identifier_size = static_cast<std::uint8_t>(variant.set_identifier.size());
        out += variant.set_identifier;
        head.records = static_cast<std::uint32_t>(base + out.size());
        add_records(type, variant, out);
        std::memcpy(out.data() + heads_at + i * variant_head_bytes, &head, sizeof(head));
    }
}

bool is_plain(const std::vector<dns::Variant>& variants) {
    return variants.size() == 1 && variants[0].set_identifier.empty() && !variants[0].geo && !variants[0].weight;
}

std::uint16_t shape_of(const std::vector<dns::Variant>& variants) {
    const bool by_place = std::any_of(variants.begin(), variants.end(), [](const auto& one) { return !!one.geo; });
    return static_cast<std::uint16_t>(variants.size() | (by_place ? SetHead::by_place_bit : 0));
}

// The Records at `at` as values.
void decode_records(std::uint16_t type, const char* at, dns::Variant& variant) {
    const auto head = read_records_head(at);
    at += records_head_bytes;
    variant.ttl = head.ttl;
    variant.data.reserve(head.all);
    for (unsigned i = 0; i < head.all; ++i) {
        std::string data;
        if (ends_in_name(type)) {
            const auto record = read_record_head(at);
            at += record_head_bytes;
            data.assign(at, record.size);
            at += record.size;
        } else {
            const auto size = dns::get16({at, served_fixed_bytes}, served_fixed_bytes - 2);
            data.assign(at + served_fixed_bytes, size);
            at += served_fixed_bytes + size;
        }
        if (i >= head.healthy) variant.unhealthy.insert(data);
        variant.data.push_back(std::move(data));
    }
}

std::size_t count_labels(std::string_view wire) {
    std::size_t labels = 0;
    for (std::size_t at = 0; at < wire.size() && wire[at] != 0; at += 1 + dns::get8(wire, at)) ++labels;
    return labels;
}

}  // namespace

SharedSuffix shared_suffix(std::string_view name, std::string_view owner) {
    auto name_labels = count_labels(name);
    auto owner_labels = count_labels(owner);
    std::size_t at = 0;
    while (name_labels > owner_labels) {
        at += 1 + dns::get8(name, at);
        --name_labels;
    }
    while (owner_labels > name_labels) {
        owner.remove_prefix(1 + dns::get8(owner, 0));
        --owner_labels;
    }
    while (name_labels > 0 && name.substr(at) != owner) {
        at += 1 + dns::get8(name, at);
        owner.remove_prefix(1 + dns::get8(owner, 0));
        --name_labels;
    }
    return {static_cast<unsigned>(name_labels), at};
}

Entry* Entry::make(const dns::Name& name, std::uint64_t hash_seed, const dns::Sets& sets, const CounterOf& counter_of) {
    const auto& wire = name.wire();
    const std::size_t base = sizeof(Entry) + sets.size() * sizeof(SetHead) + wire.size();
    const Compiler compiler(name, hash_seed, counter_of);
    std::string heads, bodies;
    std::uint8_t flags = 0;
    for (const auto& [type, variants] : sets) {
        const auto number = static_cast<std::uint16_t>(type);
        const bool plain = is_plain(variants);
        const SetHead head{number, plain ? std::uint16_t{0} : shape_of(variants),
                           static_cast<std::uint32_t>(base + bodies.size())};
        append(heads, head);
        if (plain) {
            compiler.add_plain(number, variants.front(), bodies);
        } else {
            compiler.add_chosen(number, variants, base, bodies);
        }
        if (type == dns::RecordType::cname) flags |= flag_cname;
        if (type == dns::RecordType::ns) flags |= flag_ns;
    }
    const std::size_t size = base + bodies.size();
    auto* entry = new (::operator new(size)) Entry;
    entry->hash_ = hash_name(wire, hash_seed);
    entry->name_size_ = static_cast<std::uint8_t>(wire.size());
    entry->labels_ = static_cast<std::uint8_t>(name.labels());
    entry->flags_ = flags;
    entry->sets_ = static_cast<std::uint8_t>(sets.size());
    char* out = reinterpret_cast<char*>(entry) + sizeof(Entry);
    out = std::copy(heads.begin(), heads.end(), out);
    out = std::copy(wire.begin(), wire.end(), out);
    std::copy(bodies.begin(), bodies.end(), out);
    return entry;
}

dns::Name Entry::decode_name() const { return dns::Name::from_wire(name()).value_or(dns::Name()); }

dns::Sets Entry::decode() const {
    dns::Sets sets;
    for (unsigned i = 0; i < sets_; ++i) {
        const auto head = set(i);
        auto& variants = sets[static_cast<dns::RecordType>(head.type)];
        if (head.plain()) {
            decode_records(head.type, at(head.offset), variants.emplace_back());
            continue;
        }
        variants.reserve(head.variants());
        for (unsigned v = 0; v < head.variants(); ++v) {
            const auto one = variant(head, v);
            auto& out = variants.emplace_back();
            out.set_identifier.assign(at(one.identifier), one.identifier_size);
            if ((one.flags & VariantHead::has_weight) != 0) out.weight = one.weight;
            if ((one.flags & VariantHead::has_place) != 0) out.geo = dns::GeoCode::from_key(one.place);
            decode_records(head.type, at(one.records), out);
        }
        std::sort(variants.begin(), variants.end(),
                  [](const auto& a, const auto& b) { return a.set_identifier < b.set_identifier; });
    }
    return sets;
}

const char* Entry::first_records(const SetHead& set) const {
    if (set.plain()) return at(set.offset);
    const auto identifier = [&](const VariantHead& one) {
        return std::string_view(at(one.identifier), one.identifier_size);
    };
    auto first = variant(set, 0);
    for (unsigned v = 1; v < set.variants(); ++v) {
        const auto one = variant(set, v);
        if (identifier(one) < identifier(first)) first = one;
    }
    return at(first.records);
}

Entry::Counters Entry::counters() const {
    Counters counters;
    for (unsigned i = 0; i < sets_; ++i) {
        const auto head = set(i);
        for (unsigned v = 0; v < head.variants(); ++v) {
            const auto one = variant(head, v);
            if (one.counter == 0) continue;
            counters.emplace(std::pair(head.type, std::string_view(at(one.identifier), one.identifier_size)),
                             one.counter);
        }
    }
    return counters;
}

}  // namespace fairlead::dnsserver
