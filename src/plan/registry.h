// Who owns which record, kept in TXT records beside them. Reads every form that external-dns has written (typed and
// legacy names, prefix or suffix, a word for wildcards, encrypted), and ours: one record per name that lists its
// owners. Pure but for the nonce of encryption, which comes in.
//
// The shared form (default): at "<prefix><name>" (the prefix ends with a dot, so it works at the apex; a wildcard
// becomes its replacement word) one TXT set with one text per owner:
//   "heritage=external-dns,external-dns/owner=ID,external-dns/records=A A/cluster%2Fblue"
// `records` lists what the owner has there, type and set identifier; the text goes with the owner's last record, the
// set with the last text. The set has no set identifier, so no routing policy touches it. The external-dns form: one
// TXT set per record, typed name, same set identifier and properties as the record.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "plan/change.h"
#include "plan/plan.h"

namespace fairlead::plan {

enum class OwnershipForm { shared, external_dns };

struct RegistryOptions {
    std::string owner;
    OwnershipForm form = OwnershipForm::shared;
    // Of the external-dns form; one of both at most; may hold %{record_type}. Also read in the shared form.
    std::string prefix, suffix;
    std::string wildcard_replacement;  // of the external-dns form
    std::string shared_prefix = "_owner.";
    std::string shared_wildcard = "_wildcard";
    std::string encryption_key;  // 32 bytes; empty: plain text is written
    bool operator==(const RegistryOptions&) const = default;
};

// One text of an ownership record.
struct OwnerText {
    std::string owner;
    std::vector<dns::Label> labels;                   // others than the owner and `records`, by key
    std::optional<std::vector<std::string>> records;  // "A", "A/identifier"; none: all of the name
    bool operator==(const OwnerText&) const = default;
};
// Of the data of a TXT record, with or without quotes; nothing: no ownership text. Encrypted ones need the key.
std::optional<OwnerText> parse_owner_text(std::string_view target, std::string_view encryption_key);
// With quotes, labels by key.
std::string owner_text(const OwnerText& text);
// A key as flags and Secrets give it: 32 bytes as they are, or in base64. Errors: invalid.
Result<std::string> encryption_key_of(std::string_view text);

class Registry {
public:
    // Errors: invalid; the field is "txtPrefix", "txtSuffix", ...
    static Result<Registry> make(RegistryOptions options, Random& random);

    struct Read {
        std::vector<dns::Endpoint> records;    // with "owner" and the other labels that their texts give
        std::vector<dns::Endpoint> ownership;  // TXT sets that say who owns what, as they are there
        std::vector<std::string> problems;     // texts that contradict each other; their records are nobody's to touch
    };
    // What a provider listed, in any order.
    [[nodiscard]] Read read(std::vector<dns::Endpoint> listed) const;

    // The changes of a plan with those of the ownership records that have to land with them, by name. `present` is what
    // read() gave for at least these names. Texts of other owners stay as they are. A record that is not there any more
    // loses its entry; an ownership record in another form than ours, of ours, is replaced.
    [[nodiscard]] std::vector<ChangeGroup> complete(const std::vector<Change>& changes, const Read& present) const;
    // Ownership records of ours that say something else than is there, or in another form, for names that have no
    // change: what complete() would mend.
    [[nodiscard]] std::vector<ChangeGroup> repair(const Read& present) const;

    // The names of the records that an endpoint may be an ownership record of; empty: it is none. Several, as a name
    // alone does not tell "a-foo" the typed name from "a-foo" the legacy one.
    [[nodiscard]] std::vector<std::string> subjects(const dns::Endpoint& endpoint) const;
    // Where ownership records of a name may stand, whichever form: to read just these.
    [[nodiscard]] std::vector<std::string> ownership_names(std::string_view name) const;
    [[nodiscard]] const RegistryOptions& options() const { return options_; }

private:
    Registry(RegistryOptions options, Random& random) : options_(std::move(options)), random_(&random) {}
    RegistryOptions options_;
    Random* random_;
};

}  // namespace fairlead::plan
