#include "dns/record_type.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::dns {

namespace {

struct Row {
    RecordType type;
    std::string_view text;
};

constexpr Row rows[] = {
    {RecordType::a, "A"},     {RecordType::ns, "NS"},     {RecordType::cname, "CNAME"}, {RecordType::soa, "SOA"},
    {RecordType::ptr, "PTR"}, {RecordType::mx, "MX"},     {RecordType::txt, "TXT"},     {RecordType::aaaa, "AAAA"},
    {RecordType::srv, "SRV"}, {RecordType::tlsa, "TLSA"}, {RecordType::svcb, "SVCB"},   {RecordType::https, "HTTPS"},
    {RecordType::caa, "CAA"},
};

}  // namespace

std::string type_text(std::uint16_t number) {
    for (const auto& row : rows) {
        if (static_cast<std::uint16_t>(row.type) == number) return std::string(row.text);
    }
    return fmt::format("TYPE{}", number);
}

std::string type_text(RecordType type) { return type_text(static_cast<std::uint16_t>(type)); }

std::optional<RecordType> parse_type(std::string_view text) {
    for (const auto& row : rows) {
        if (equal_ignoring_case(row.text, text)) return row.type;
    }
    return std::nullopt;
}

}  // namespace fairlead::dns
