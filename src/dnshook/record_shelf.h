// Endpoints that somebody outside keeps, in DNSRecords: one object per name, in the namespace of the ManagedZone that
// the name is in, with the label fairlead.dev/driven-by. Gives back what it was given, to the byte and in its order.
// Any thread; changes go one request at a time.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fwd.h"
#include "base/result.h"
#include "control/client.h"
#include "dns/endpoint.h"
#include "json/value.h"
#include "provider/webhook/protocol.h"
#include "resource/fwd.h"
#include "store/fwd.h"

namespace fairlead::dnshook {

inline constexpr std::string_view driver_label = "fairlead.dev/driven-by";
inline constexpr std::string_view driver_webhook = "webhook";

// A zone of the built-in server.
struct ShelfZone {
    std::string domain, namespace_, name;  // domain in normal form
    bool operator==(const ShelfZone&) const = default;
};

struct ShelfOptions {
    std::size_t writers = 8;         // threads that write at once, for the store's group commits
    std::size_t writers_from = 16;   // names; fewer are written one after the other
    std::size_t tries = 4;           // of an object that somebody else changes meanwhile
    std::vector<std::string> zones;  // domains that are offered; none: all of the built-in server
};

class RecordShelf {
public:
    RecordShelf(const resource::Kinds& kinds, store::Store& store, control::Transport& transport, const Clock& clock,
                ShelfOptions options = {});

    // By domain.
    [[nodiscard]] Result<std::vector<ShelfZone>> zones() const;
    // By name; those of one name in the order in which they came.
    [[nodiscard]] Result<std::vector<dns::Endpoint>> list() const;
    // Removals, then updates, then creations. What is done already is done; what is not there is not removed. Goes on
    // with other names when one fails: the error is of the first, with their number. Errors: invalid (no zone of ours
    // has the name), unavailable, ...
    Result<void> apply(const provider::webhook::Changes& changes);

private:
    struct Edit;
    using Edits = std::map<std::string, Edit>;  // by name in normal form
    static Edits edits_of(const provider::webhook::Changes& changes);
    static std::vector<dns::Endpoint> edited(std::vector<dns::Endpoint> present, const Edit& edit);
    Result<void> write(const std::string& name, const Edit& edit, const std::vector<ShelfZone>& zones);
    Result<bool> try_write(const control::ObjectId& id, const ShelfZone& zone, const std::string& name,
                           const Edit& edit);

    const resource::Kind& records_;
    const resource::Kind& zones_;
    store::Store& store_;
    control::Client client_;
    ShelfOptions options_;
    std::mutex applying_;
};

// "webhook-www-example-com-1a2b3c4d5e": the same for the same name, whatever stands in it.
std::string shelf_object_name(std::string_view name);

}  // namespace fairlead::dnshook
