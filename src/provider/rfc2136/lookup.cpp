#include "provider/rfc2136/lookup.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "dns/soa.h"
#include "provider/rfc2136/update.h"

namespace fairlead::provider::rfc2136 {

namespace {

using dns::RecordType;

// All that may stand beside each other; CNAME is asked for first.
constexpr std::array other_types{RecordType::a,    RecordType::ns,    RecordType::ptr, RecordType::mx,
                                 RecordType::txt,  RecordType::aaaa,  RecordType::srv, RecordType::tlsa,
                                 RecordType::svcb, RecordType::https, RecordType::caa};

std::uint16_t number(RecordType type) { return static_cast<std::uint16_t>(type); }

Session::Make query(const dns::Name& name, RecordType type) {
    return [name, type](std::uint16_t id) { return query_message(id, name, number(type)); };
}

bool authoritative(const dns::Message& reply) { return (reply.flags & dns::flag_authoritative) != 0; }

// Takes the records of exactly this name and type. False: the reply is a referral, or cannot be used.
bool take(const dns::Message& reply, const dns::Name& name, RecordType type, PlainSets& sets) {
    if (reply.rcode() != dns::rcode_noerror && reply.rcode() != dns::rcode_nxdomain) return false;
    if (!authoritative(reply) || (reply.flags & dns::flag_truncated) != 0) return false;
    for (const auto& record : reply.answers) {
        if (record.name != name || record.type != number(type) || !record.known) continue;
        add_record(sets, name, type, record.ttl, record.data);
    }
    return true;
}

tl::unexpected<Error> not_shown(const dns::Name& name, const dns::Message& reply) {
    return fail(Errc::unsupported,
                fmt::format("queries do not show {} ({})", name.host(), dns::rcode_text(reply.rcode())));
}

// Those of `names` that may exist, with their CNAMEs.
Result<std::vector<dns::Name>> seen(Session& session, const std::set<dns::Name>& names, PlainSets& sets) {
    std::vector<Session::Make> requests;
    requests.reserve(names.size());
    for (const auto& name : names) requests.push_back(query(name, RecordType::cname));
    const auto replies = session.ask_all(requests);
    if (!replies) return fail(replies.error());
    std::vector<dns::Name> found;
    auto reply = replies->begin();
    for (const auto& name : names) {
        if (!take(*reply, name, RecordType::cname, sets)) return not_shown(name, *reply);
        if (reply->rcode() == dns::rcode_noerror) found.push_back(name);
        ++reply;
    }
    return found;
}

// Leaves those that have records of their own.
Result<void> probe(Session& session, const dns::Name& apex, std::vector<dns::Name>& names, PlainSets& sets) {
    std::vector<Session::Make> requests;
    requests.reserve(names.size());
    for (const auto& name : names) {
        requests.push_back([&apex, &name](std::uint16_t id) { return probe_message(id, apex, name); });
    }
    const auto replies = session.ask_all(requests);
    if (!replies) return fail(replies.error());
    std::vector<dns::Name> own;
    own.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto rcode = (*replies)[i].rcode();
        if (rcode == dns::rcode_noerror) {
            own.push_back(names[i]);
        } else if (rcode == dns::rcode_nxdomain) {
            sets.erase({names[i], RecordType::cname});  // a wildcard's
        } else {
            return not_shown(names[i], (*replies)[i]);
        }
    }
    names = std::move(own);
    return {};
}

}  // namespace

Result<std::uint32_t> read_serial(Session& session, const dns::Name& apex) {
    const auto reply = session.ask(query(apex, RecordType::soa));
    if (!reply) return fail(reply.error());
    for (const auto& record : reply->answers) {
        if (record.known && record.type == number(RecordType::soa) && record.name == apex) {
            return dns::serial_of(record.data);
        }
    }
    return fail(Errc::not_found, fmt::format("{}: it does not serve the zone {} ({})", session.server(), apex.host(),
                                             dns::rcode_text(reply->rcode())));
}

Result<LookedUp> look_up(Session& session, const dns::Name& apex, const std::set<dns::Name>& names) {
    LookedUp result;
    const auto serial = read_serial(session, apex);
    if (!serial) return fail(serial.error());
    result.serial = *serial;
    auto found = seen(session, names, result.sets);
    if (!found) return fail(std::move(found.error()));
    if (auto probed = probe(session, apex, *found, result.sets); !probed) return fail(std::move(probed.error()));
    std::erase_if(*found, [&](const dns::Name& name) { return result.sets.contains({name, RecordType::cname}); });
    std::vector<Session::Make> requests;
    requests.reserve(found->size() * other_types.size());
    for (const auto& name : *found) {
        for (const auto type : other_types) requests.push_back(query(name, type));
    }
    const auto replies = session.ask_all(requests);
    if (!replies) return fail(replies.error());
    auto reply = replies->begin();
    for (const auto& name : *found) {
        for (const auto type : other_types) {
            if (!take(*reply, name, type, result.sets)) return not_shown(name, *reply);
            ++reply;
        }
    }
    return result;
}

}  // namespace fairlead::provider::rfc2136
