// Who owns which record, kept in TXT records beside them. Reads every form that external-dns has written (typed and
// legacy names, prefix or suffix, a word for wildcards, encrypted), and ours: one record per name that lists its
// owners. Pure but for the nonce of encryption, which comes in. Formats to the byte: docs/ownership.md.
//
// The shared form (default): at "<prefix><name>" (the prefix ends with a dot, so it works at the apex; a wildcard
// becomes its replacement word) one TXT set with one text per owner, which says name, owner and what the owner has
// there (plan/owner_text.h). The text goes with the owner's last record, the set with the last text. The set has no set
// identifier, so no routing policy touches it. The external-dns form: one TXT set per record, typed name, same set
// identifier and properties as the record; names that cannot have such a record inside the zone (the apex without a
// prefix that ends with a dot, names that get too long, types that external-dns does not know) have the shared form.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "plan/change.h"
#include "plan/crypt.h"
#include "plan/owner_names.h"
#include "plan/owner_text.h"
#include "plan/plan.h"

namespace fairlead::plan {

enum class OwnershipForm { shared, external_dns };

struct RegistryOptions {
    std::string owner{};  // empty: nothing is written, and whose a record is does not matter
    OwnershipForm form = OwnershipForm::shared;
    // Of the external-dns form; one of both at most; may hold %{record_type}. Also read in the shared form.
    std::string prefix{}, suffix{};
    std::string wildcard_replacement{};  // of the external-dns form
    std::string shared_prefix = "_owner.";
    std::string shared_wildcard = "_wildcard";
    std::string encryption_key{};         // 32 bytes; empty: plain text is written
    std::string zone{};                   // apex, to keep ownership records inside; empty: any name will do
    std::vector<Affix> former_affixes{};  // where texts of ours may still stand; read, and moved by repair()
    bool operator==(const RegistryOptions&) const = default;
};

struct IndexedText;
struct OwnerGroup;

class Registry {
public:
    // Errors: invalid; the field is "owner", "txtPrefix", "txtSuffix", "txtWildcardReplacement", ...
    static Result<Registry> make(RegistryOptions options, Random& random);

    class Read {
    public:
        Read() = default;
        // With "owner" and the other labels that their texts give.
        [[nodiscard]] std::span<const dns::Endpoint> records() const& { return std::span(sets_).first(record_count_); }
        // TXT sets that say who owns what, as they are there.
        [[nodiscard]] std::span<const dns::Endpoint> ownership() const& {
            return std::span(sets_).subspan(first_ownership_);
        }
        void records() const&& = delete;
        void ownership() const&& = delete;
        // Texts that contradict each other; their records are nobody's to touch.
        [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
        // All that was listed, each once.
        [[nodiscard]] std::vector<dns::Endpoint> take() && { return std::move(sets_); }

    private:
        friend class Registry;
        Read(std::vector<dns::Endpoint> listed, std::string_view encryption_key);
        // One list, as it may be large: records, then those that are in both lists, then the others of ownership.
        std::vector<dns::Endpoint> sets_;
        std::size_t first_ownership_ = 0, record_count_ = 0;
        std::vector<std::string> problems_;
    };
    // What a provider listed, in any order. A record with texts of several owners has them all in its label, with ", "
    // between, which is nobody's id; a TXT set that holds other texts beside those of owners is in both lists, and in
    // records it belongs to mixed_owner.
    [[nodiscard]] Read read(std::vector<dns::Endpoint> listed) const;
    static constexpr std::string_view mixed_owner = "(ownership texts, others)";

    // The changes of a plan with those of the ownership records that have to land with them, by name. `present` is what
    // read() gave for at least these names and their written_names(). Texts of other owners stay as they are, unless a
    // change says that a record goes from or to them. A record that is not there any more loses its entry; an ownership
    // record in another form than ours, of ours, is replaced. What cannot have its ownership written is left out, and
    // `left_out` says why: "OwnershipConflict", "OwnershipContradicted", "OwnershipNoRoom".
    [[nodiscard]] std::vector<ChangeGroup> complete(const std::vector<Change>& changes, const Read& present,
                                                    std::vector<Skip>* left_out = nullptr) const;
    // Ownership records of ours that say something else than is there, or in another form, for names that have no
    // change: what complete() would mend.
    [[nodiscard]] std::vector<ChangeGroup> repair(const Read& present) const;

    // The names of the records that an endpoint may be an ownership record of; empty: it is none. Several, as a name
    // alone does not tell "a-foo" the typed name from "a-foo" the legacy one, nor a wildcard from its replacement.
    [[nodiscard]] std::vector<std::string> subjects(const dns::Endpoint& endpoint) const;
    // Where ownership records of a name may stand, whichever form: to read just these.
    [[nodiscard]] std::vector<std::string> ownership_names(std::string_view name) const;
    // Where we would write those of a name: whatever TXT stands there matters to complete().
    [[nodiscard]] std::vector<std::string> written_names(std::string_view name) const;
    // Of a record in the external-dns form; empty: its ownership has the shared form.
    [[nodiscard]] std::string typed_place(std::string_view name, std::string_view type) const;
    [[nodiscard]] const RegistryOptions& options() const { return options_; }

private:
    Registry(RegistryOptions options, Random& random) : options_(std::move(options)), random_(&random) {}
    void apply_claims(Read& read) const;
    OwnerGroup& group_of(std::string_view name, std::map<std::string, OwnerGroup>& groups) const;
    [[nodiscard]] bool well_placed(const IndexedText& text, const dns::Endpoint& set, const dns::Endpoint& record,
                                   std::string_view name) const;
    [[nodiscard]] std::vector<std::string> twins(std::string_view name) const;

    RegistryOptions options_;
    std::vector<Affix> affixes_;  // to read by, the one to write first
    Random* random_;
};

}  // namespace fairlead::plan
