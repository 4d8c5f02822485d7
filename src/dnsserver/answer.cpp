#include "dnsserver/answer.h"

#include <algorithm>

#include "dns/bytes.h"
#include "dns/query.h"
#include "dnsserver/hash.h"
#include "dnsserver/reply_writer.h"
#include "dnsserver/tally.h"
#include "dnsserver/zone_set.h"
#include "geo/table.h"

namespace fairlead::dnsserver {

namespace {

using dns::class_any;
using dns::class_internet;
using dns::type_axfr;
using dns::type_ixfr;
using dns::type_opt;
constexpr unsigned class_chaos = 3;
constexpr std::uint16_t type_cname = 5, type_txt = 16, type_srv = 33;
constexpr unsigned noerror = 0, formerr = 1, servfail = 2, nxdomain = 3, notimp = 4, refused = 5, badvers = 16;
constexpr std::size_t opt_fixed_bytes = 11, option_head_bytes = 4;
constexpr unsigned option_server_id = 3, option_subnet = 8;
constexpr std::size_t subnet_fixed_bytes = 4;
constexpr std::size_t least_udp_payload = 512;
constexpr std::size_t finished_fixed_bytes = 12;  // of a finished record (entry.h), before its data
constexpr std::size_t max_pointer = 0x3fff;       // RFC 1035 4.1.4

struct Outcome {
    unsigned rcode = noerror;
    bool authoritative = true;
};

// The name in lower case.
struct LowerName {
    explicit LowerName(std::string_view wire) : size(wire.size()) {
        for (std::size_t i = 0; i < size; ++i) {
            const char c = wire[i];
            // Lengths are at most 63, below 'A'.
            bytes[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
        }
    }
    [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
    std::array<char, dns::max_name_bytes> bytes;
    std::size_t size;
};

std::size_t subnet_bytes(const dns::ClientSubnet& subnet) { return (subnet.source + 7U) / 8; }

}  // namespace

// One query on its way to an answer.
class Answering {
public:
    Answering(Answerer& answerer, const Snapshot& zones, const geo::Table* places, const dns::Query& query,
              const Asker& asker, ReplyWriter& writer)
        : answerer_(answerer), table_(zones.table()), places_(places), query_(query), asker_(asker), writer_(writer) {}

    Outcome resolve();
    [[nodiscard]] unsigned scope() const { return by_place_ && query_.subnet ? scope_ : 0; }

private:
    // What the chain came to at one name.
    enum class Step { done, follow };
    Step answer_set(const CompiledZone& zone, const Entry& entry, const SetHead& set, Outcome& outcome);
    void refer(const CompiledZone& zone, const Entry& cut, Outcome& outcome);
    void add_addresses(const char* services, std::size_t written_at);
    void add_soa(const CompiledZone& zone) {
        writer_.own_suffix(zone.labels);
        writer_.add_raw(Section::authority, zone.negative);
    }
    Outcome lead_nowhere(std::string_view question);
    const dns::PlaceKey& place();

    Answerer& answerer_;
    const ZoneTable& table_;
    const geo::Table* places_;
    const dns::Query& query_;
    const Asker& asker_;
    ReplyWriter& writer_;
    Chain chain_;
    std::string_view name_;   // where the chain is
    std::uint64_t hash_ = 0;  // of that name
    std::size_t visits_ = 0;  // of names, for the health of targets
    bool by_place_ = false, located_ = false;
    dns::PlaceKey place_;
    unsigned scope_ = 0;
};

// Looked up when the first set asks for it. A resolver that tells no network (RFC 7871: a source of 0) is asked for
// itself.
const dns::PlaceKey& Answering::place() {
    by_place_ = true;
    if (located_ || places_ == nullptr) return place_;
    located_ = true;
    if (query_.subnet && query_.subnet->source > 0) {
        const auto found = places_->find({query_.subnet->address, query_.subnet->family == 2});
        place_ = *found.place;
        scope_ = found.scope;
    } else {
        place_ = *places_->find(asker_.address).place;
    }
    return place_;
}

Answering::Step Answering::answer_set(const CompiledZone& zone, const Entry& entry, const SetHead& set,
                                      Outcome& outcome) {
    std::uint32_t records = set.offset;
    if (!set.plain()) {
        Picker picker(table_, chain_, answerer_.random_, answerer_.marks_, visits_);
        static constexpr dns::PlaceKey nowhere{};
        const int picked = picker.pick(entry, set, set.by_place() ? place() : nowhere);
        if (picked < 0) {
            add_soa(zone);
            return Step::done;
        }
        const auto variant = entry.variant(set, static_cast<unsigned>(picked));
        if (variant.counter != 0) answerer_.tally_.count_set(variant.counter);
        records = variant.records;
    }
    const char* at = entry.at(records);
    const auto head = read_records_head(at);
    const std::uint64_t start = head.served() > 1 ? answerer_.random_.next() >> 1 : 0;
    const std::size_t written_at = writer_.size();
    if (!writer_.add(Section::answer, set.type, at, start)) {
        outcome.rcode = noerror;
        return Step::done;
    }
    if (set.type == type_srv) add_addresses(at, written_at);
    if (set.type != type_cname || query_.type == type_cname || query_.type == dns::type_any) return Step::done;
    const auto record = read_record_head(at + records_head_bytes);
    name_ = {at + records_head_bytes + record_head_bytes, record.size};
    hash_ = record.target_hash;
    return Step::follow;
}

void Answering::refer(const CompiledZone& zone, const Entry& cut, Outcome& outcome) {
    outcome.authoritative = false;
    SetHead set;
    if (!cut.find(static_cast<std::uint16_t>(dns::RecordType::ns), set)) return;
    const char* servers = cut.first_records(set);
    writer_.own_suffix(cut.labels());
    if (!writer_.add(Section::authority, set.type, servers, 0)) return;
    const char* at = servers + records_head_bytes;
    for (const auto position : writer_.data_positions()) {
        const auto record = read_record_head(at);
        const std::string_view server(at + record_head_bytes, record.size);
        at += record_head_bytes + record.size;
        // Only a name of this zone is found in it.
        const auto* glue = table_.find(zone, server);
        if (glue == nullptr) continue;
        for (const auto type : {dns::RecordType::a, dns::RecordType::aaaa}) {
            SetHead addresses;
            if (!glue->find(static_cast<std::uint16_t>(type), addresses)) continue;
            writer_.add_at(Section::additional, position, addresses.type, glue->first_records(addresses));
        }
    }
}

// Of the targets of SRV records, which were written at `written_at` (RFC 2782). Those that do not fit are left out
// without a mark: whoever needs them asks. Where a policy chooses among several sets, it is left to that question too.
void Answering::add_addresses(const char* services, std::size_t written_at) {
    const auto head = read_records_head(services);
    const char* at = services + records_head_bytes;
    std::array<std::uint64_t, dns::max_srv_targets> seen;  // NOLINT(cppcoreguidelines-pro-type-member-init): as needed
    std::size_t count = 0;
    for (unsigned i = 0; i < head.served(); ++i) {
        const std::size_t size = dns::get16({at, finished_fixed_bytes}, finished_fixed_bytes - 2);
        const std::string_view target(at + finished_fixed_bytes + dns::srv_target_at, size - dns::srv_target_at);
        const std::size_t position = written_at + finished_fixed_bytes + dns::srv_target_at;
        at += finished_fixed_bytes + size;
        written_at += finished_fixed_bytes + size;
        if (position > max_pointer) return;
        const auto hash = hash_name(target, table_.seed);
        if (std::find(seen.begin(), seen.begin() + count, hash) != seen.begin() + count) continue;
        if (count == seen.size()) return;
        seen[count++] = hash;
        const Labels labels(target);
        const auto* zone = table_.zone_of(target, labels);
        if (zone == nullptr || table_.cut_above(*zone, target, labels) != nullptr) continue;
        const auto* entry = table_.look_up(*zone, target, labels, hash);
        if (entry == nullptr) continue;
        for (const auto type : {dns::RecordType::a, dns::RecordType::aaaa}) {
            SetHead addresses;
            if (!entry->find(static_cast<std::uint16_t>(type), addresses) || !addresses.plain()) continue;
            const char* records = entry->at(addresses.offset);
            if (!writer_.has_room(read_records_head(records).served_bytes)) return;
            writer_.add_at(Section::additional, position, addresses.type, records);
        }
    }
}

Outcome Answering::lead_nowhere(std::string_view question) {
    writer_.clear_answer(query_.question_end);
    answerer_.tally_.loops.add();
    answerer_.tally_.looped.offer(question);
    return {servfail, false};
}

Outcome Answering::resolve() {
    const LowerName question(query_.name);
    name_ = question.view();
    hash_ = hash_name(name_, table_.seed);
    Outcome outcome;
    for (;;) {
        const Labels labels(name_);
        const bool first = chain_.size() == 0;
        if (first) writer_.own_question(labels);
        const auto* zone = table_.zone_of(name_, labels);
        if (zone == nullptr) {
            if (first) outcome = {refused, false};
            return outcome;
        }
        if (chain_.contains(hash_) || chain_.size() > dns::max_chain) return lead_nowhere(question.view());
        const auto* cut = table_.cut_above(*zone, name_, labels);
        const bool ours = cut != nullptr && cut->labels() == labels.count && query_.type == dns::type_delegation_signer;
        if (cut != nullptr && !ours) {
            if (first) refer(*zone, *cut, outcome);
            return outcome;
        }
        chain_.add(hash_);
        const auto* entry = table_.look_up(*zone, name_, labels, hash_);
        if (entry == nullptr) {
            add_soa(*zone);
            outcome.rcode = nxdomain;
            return outcome;
        }
        SetHead set;
        const bool found = entry->has_cname()             ? entry->find(type_cname, set)
                           : query_.type == dns::type_any ? (entry->sets() != 0 && ((set = entry->set(0)), true))
                                                          : entry->find(query_.type, set);
        if (!found) {
            add_soa(*zone);
            return outcome;
        }
        if (answer_set(*zone, *entry, set, outcome) == Step::done) return outcome;
    }
}

namespace {

// Options that the reply carries: how long, and then what.
struct Options {
    const dns::Query& query;
    const AnswerSettings& settings;

    [[nodiscard]] bool tells_id() const { return query.server_id_asked && !settings.identity.empty(); }
    [[nodiscard]] std::size_t bytes() const {
        if (!query.edns) return 0;
        std::size_t size = opt_fixed_bytes;
        if (query.subnet) size += option_head_bytes + subnet_fixed_bytes + subnet_bytes(*query.subnet);
        if (tells_id()) size += option_head_bytes + settings.identity.size();
        return size;
    }
    void write(ReplyWriter& writer, unsigned rcode, unsigned scope) const;
};

void Options::write(ReplyWriter& writer, unsigned rcode, unsigned scope) const {
    if (!query.edns) return;
    std::array<char, opt_fixed_bytes + 2 * option_head_bytes + subnet_fixed_bytes + 16> buffer;
    std::size_t size = 0;
    const auto put8 = [&](unsigned value) { buffer[size++] = static_cast<char>(value); };
    const auto put16 = [&](unsigned value) {
        put8(value >> 8);
        put8(value);
    };
    put8(0);  // the root
    put16(type_opt);
    put16(settings.udp_payload);
    put8(rcode >> 4);
    put8(0);  // version
    put16(query.dnssec_ok ? 0x8000U : 0U);
    put16(static_cast<unsigned>(bytes() - opt_fixed_bytes));
    if (query.subnet) {
        const auto& subnet = *query.subnet;
        const auto address = subnet_bytes(subnet);
        put16(option_subnet);
        put16(static_cast<unsigned>(subnet_fixed_bytes + address));
        put16(subnet.family);
        put8(subnet.source);
        put8(subnet.source == 0 ? 0 : scope);
        for (std::size_t i = 0; i < address; ++i) put8(subnet.address[i]);
    }
    if (tells_id()) {
        put16(option_server_id);
        put16(static_cast<unsigned>(settings.identity.size()));
    }
    writer.put_bytes({buffer.data(), size});
    if (tells_id()) writer.put_bytes(settings.identity);
    writer.count_additional();
}

// version.bind, version.server, id.server, hostname.bind (RFC 4892).
unsigned answer_chaos(const dns::Query& query, const AnswerSettings& settings, ReplyWriter& writer) {
    using namespace std::string_view_literals;
    const LowerName name(query.name);
    const auto asked = name.view();
    const std::string* text = nullptr;
    if (asked == "\7version\4bind\0"sv || asked == "\7version\6server\0"sv) text = &settings.version;
    if (asked == "\2id\6server\0"sv || asked == "\10hostname\4bind\0"sv) text = &settings.identity;
    if (text == nullptr || text->empty() || (query.type != type_txt && query.type != dns::type_any)) return refused;
    writer.own_question(Labels(asked));
    std::array<char, 10 + 256> record{0, static_cast<char>(type_txt), 0, static_cast<char>(class_chaos)};
    const std::size_t size = std::min<std::size_t>(text->size(), 255);
    record[9] = static_cast<char>(size + 1);
    record[8] = static_cast<char>((size + 1) >> 8);
    record[10] = static_cast<char>(size);
    std::copy_n(text->begin(), size, record.begin() + 11);
    writer.add_raw(Section::answer, {record.data(), 11 + size});
    return noerror;
}

}  // namespace

Reply Answerer::answer(const Snapshot& zones, const geo::Table* places, std::string_view packet, const Asker& asker,
                       std::span<char> out) {
    return answer_query(zones, places, packet, asker, std::nullopt, out);
}

Reply Answerer::answer_unsigned(const Snapshot& zones, const geo::Table* places, std::string_view packet,
                                const Asker& asker, std::size_t reserve, std::span<char> out) {
    return answer_query(zones, places, packet, asker, reserve, out);
}

// `signature`: the bytes to be left for one; none if a signed query is somebody else's.
Reply Answerer::answer_query(const Snapshot& zones, const geo::Table* places, std::string_view packet,
                             const Asker& asker, std::optional<std::size_t> signature, std::span<char> out) {
    dns::Query query;
    const auto verdict = dns::read_query(packet, query);
    if (verdict == dns::Verdict::ignore) {
        tally_.ignored.add();
        return {};
    }
    const bool transfer = query.klass == class_internet && (query.type == type_axfr || query.type == type_ixfr);
    if (verdict == dns::Verdict::answer && !signature && (query.signature_at || transfer)) {
        return {Reply::Kind::special, 0};
    }
    const Options options{query, settings_};
    const std::size_t most =
        asker.stream ? max_message_bytes
                     : std::max<std::size_t>(least_udp_payload, std::min(query.payload, settings_.udp_payload));
    const std::size_t kept = options.bytes() + signature.value_or(0);
    // A long identity and the signature of a long key can take more than there is: then the answer is cut to nothing.
    ReplyWriter writer(out, most - std::min(most, kept), packet.substr(0, query.question_end));
    unsigned rcode = noerror;
    bool authoritative = false;
    unsigned scope = 0;
    switch (verdict) {
        case dns::Verdict::ignore:
            break;
        case dns::Verdict::malformed:
            rcode = formerr;
            break;
        case dns::Verdict::unsupported:
            rcode = notimp;
            break;
        case dns::Verdict::bad_version:
            rcode = badvers;
            break;
        case dns::Verdict::answer:
            if (query.klass == class_chaos) {
                rcode = answer_chaos(query, settings_, writer);
            } else if (query.klass != class_internet && query.klass != class_any) {
                rcode = refused;
            } else {
                Answering answering(*this, zones, places, query, asker, writer);
                const auto outcome = answering.resolve();
                rcode = outcome.rcode;
                authoritative = outcome.authoritative;
                scope = answering.scope();
            }
            break;
    }
    if (writer.truncated()) tally_.truncated.add();
    writer.allow(options.bytes());
    options.write(writer, rcode, scope);
    tally_.count(query.type, rcode, asker.stream);
    return {Reply::Kind::message, writer.finish(rcode, authoritative)};
}

}  // namespace fairlead::dnsserver
