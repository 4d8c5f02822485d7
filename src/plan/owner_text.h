// What one text of an ownership record says: whose a record is. The format is that of external-dns, to the byte:
//   "heritage=external-dns,external-dns/owner=ID,external-dns/resource=service/default/web"
// and for the shared form two labels more, which external-dns carries along without knowing them:
//   external-dns/name=www.example.com       the name that the records have, so that nothing is guessed from a place
//   external-dns/records=A A/cluster/blue   type and set identifier of each record that the owner has at that name
// A record whose labels differ from those of its neighbours has them behind it: "A/green;resource:service/b/web".
// There, bytes other than letters, digits and "-_.~/*@+" are written as %XX. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dns/endpoint.h"

namespace fairlead::plan {

struct OwnedRecord {
    std::string type, set_identifier;
    dns::Labels labels;  // others than the owner
    auto identity() const { return std::pair<const std::string&, const std::string&>(type, set_identifier); }
    bool operator==(const OwnedRecord&) const = default;
};

struct OwnerText {
    std::string owner, name;
    dns::Labels labels;                               // of all its records; others than owner, name, records
    std::optional<std::vector<OwnedRecord>> records;  // none: all of the name and type that the place says
    bool operator==(const OwnerText&) const = default;
};

// Of the data of a TXT record, with or without quotes; nothing: no ownership text. Encrypted ones need the key.
std::optional<OwnerText> parse_owner_text(std::string_view target, std::string_view encryption_key);
// Without and with quotes, labels by key. A label that the format cannot hold is left out.
std::string owner_plain(const OwnerText& text);
std::string owner_text(const OwnerText& text);

// An owner's id or a label's value that can stand in a text as it is: printable ASCII without ," = and \.
bool plain_value(std::string_view value);

// The texts of the shared form for all that an owner has at a name: one, unless the list is longer than one value may
// be at a provider (Route 53: 4,000 characters). `records` is sorted by type and set identifier.
std::vector<OwnerText> shared_texts(std::string_view owner, std::string_view name,
                                    std::span<const OwnedRecord> records);

// The same fields without a copy, for reading many. Values of `records` are still encoded.
struct OwnerFields {
    std::string_view owner, name, records;
    bool listed = false;  // has both name and records: the shared form
    std::vector<dns::Label> labels;
};
// Of a text without quotes. False: no ownership text.
bool read_owner_fields(std::string_view text, OwnerFields& out);
// One entry of a list of records, decoded.
OwnedRecord read_owned_record(std::string_view entry);
// The text of a TXT record as its bytes: `target` itself where it has no quotes or escapes inside, else `scratch`.
std::string_view txt_bytes(std::string_view target, std::string& scratch);
// As data of a TXT record: in quotes, and in pieces of at most 255 bytes.
std::string txt_target(std::string_view bytes);

}  // namespace fairlead::plan
