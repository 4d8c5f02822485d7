// Keeps a DNSRecord for each name that a Service or an Ingress asks for by the annotations of external-dns, and tells
// the object in its conditions what has become of them. Made by main; runs in a Manager. Keys are
// "service|namespace/name" and "ingress|namespace/name".
//
// The records are ours: their spec follows the object, whoever edits it. They name the object as their owner and
// controller, so the garbage collector takes them with it; one that somebody else made under the same name is left
// alone and reported. One DNSRecord per name, since the names of an object may lie in several zones. An object whose
// annotations cannot be followed keeps the records that it had.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "control/context.h"
#include "controller/source_conditions.h"
#include "controller/status_notes.h"
#include "resource/kinds/dns_record.h"

namespace fairlead::controller {

// On every record that is made here; the value is "service" or "ingress".
inline constexpr std::string_view source_label = "fairlead.dev/source";

struct DnsSourcesOptions {
    // A new record has its conditions in a moment: the object is not told "nobody has looked" before this has passed.
    std::chrono::nanoseconds patience = std::chrono::seconds(5);
    // Who writes the status of Ingresses on balancers takes conditions from here that only are of a newer spec; written
    // here when nobody has done so in time. Null: written here at once.
    StatusNotes* notes = nullptr;
    std::chrono::nanoseconds taken_within = std::chrono::seconds(6);
};

class DnsSources final : public control::Reconciler {
public:
    explicit DnsSources(control::Context& context, DnsSourcesOptions options = {});
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    enum class State { published, waiting, invalid };
    // An object that may ask for names.
    struct Subject {
        control::Key key;
        const resource::Kind* kind = nullptr;
        json::Value object;
        resource::ObjectMeta metadata;
        source::Reading reading;
    };
    // What the DNSRecords of a subject should be and are.
    struct Records {
        std::map<std::string, resource::DnsRecord> wanted;  // by key
        std::vector<SourceTrouble> troubles;
        std::size_t writes = 0;
        bool behind = false;  // what we wrote is not in the informer yet
    };

    Result<std::optional<Subject>> subject_of(const control::Key& key);
    Result<void> remove_records(const control::Key& key, const Records& keep, std::size_t& writes);
    Result<void> write_records(const Subject& subject, Records& records);
    Result<void> write_record(const Subject& subject, const std::string& name, const resource::DnsRecord& wanted,
                              Records& records);
    Result<Again> tell(const Subject& subject, const Records& records);
    Result<void> write_conditions(const Subject& subject, std::vector<resource::Condition> wanted);
    // Somebody else may write them: they say the same of a newer spec.
    [[nodiscard]] bool leave_note(const Subject& subject, const std::vector<resource::Condition>& present,
                                  const std::vector<resource::Condition>& wanted);
    Result<void> forget(const Subject& subject);
    [[nodiscard]] std::vector<SourceRecord> records_of(const Subject& subject) const;
    void count(const control::Key& key, std::optional<State> state);
    control::Informer& informer_of(const control::Key& key);

    control::Context& context_;
    DnsSourcesOptions options_;
    control::Informer& services_;
    control::Informer& ingresses_;
    control::Informer& endpoints_;
    control::Informer& records_;
    const control::Index& owned_;                     // source key -> our records
    std::map<control::Key, MonotonicTime> unjudged_;  // since when records have no conditions
    std::map<std::string, std::int64_t> written_;     // record key -> the generation that we wrote
    std::map<control::Key, State> states_;
    std::map<control::Key, MonotonicTime> left_;  // since when others may write its conditions
};

// Of the DNSRecord for a name of an object: "service-web-5f1c0a9d3b"; always a valid one.
std::string source_record_name(std::string_view kind, std::string_view object, std::string_view host);
// The keys of reconcile() that a stored DNSRecord belongs to; none of one that was not made here.
std::vector<std::string> source_keys(const store::Object& record);

}  // namespace fairlead::controller
