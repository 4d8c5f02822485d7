// Amazon Route 53 as a provider: which hosted zone, what is in it, and changes in batches that check what they change.
// One object per zone, used by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "provider/provider.h"
#include "provider/route53/api.h"
#include "provider/route53/batch.h"

namespace fairlead::provider::route53 {

struct Options {
    bool ambient_credentials = false;  // whether zones without keys of their own may use those of the server
    // For tests: where credentials are found, and who answers requests instead of the network.
    Environment environment = aws::process_environment;
    CredentialCall credential_call = aws::credential_call;
    std::string instance_endpoint = "http://169.254.169.254", container_endpoint = "http://169.254.170.2";
    std::function<Send(const std::string& endpoint)> connect;  // none: net::Client
};

// The maker to register under "route53". All zones that one maker made share the budgets of their accounts.
Providers::Make maker(Surroundings& surroundings, Options options);

class Route53 final : public Provider {
public:
    Route53(const ZoneSettings& settings, Surroundings& surroundings, Api api);

    [[nodiscard]] Supports supports() const override;
    Result<Listing> list(const std::optional<std::vector<std::string>>& names) override;
    [[nodiscard]] std::vector<dns::Endpoint> expand(const dns::Endpoint& endpoint) const override;
    [[nodiscard]] Result<dns::Endpoint> canonicalise(const dns::Endpoint& endpoint) const override;
    std::vector<Outcome> apply(std::span<const plan::ChangeGroup> groups) override;
    std::vector<ChangeState> follow(std::span<const std::string> change_ids) override;
    [[nodiscard]] std::string zone_id() const override { return terms_.zone_id; }
    [[nodiscard]] std::vector<std::string> name_servers() const override { return zone_ ? zone_->name_servers : none_; }

private:
    // The hosted zone, found once. Errors: not_found, invalid (several: asks for spec.id), and those of Api.
    Result<void> find_zone();
    Result<std::string> discover();
    Result<HostedZone> get_zone(const std::string& id);
    [[nodiscard]] tl::unexpected<Error> told(ApiError error);

    // A page of record sets from there on.
    struct From {
        std::string name, type, identifier;  // as the service spells them; empty: from the beginning
    };
    Result<RecordSets> page(const From& from);
    void take(std::vector<RecordSet> sets, Listing& listing);
    Result<Listing> list_all();
    Result<Listing> list_names(std::vector<std::string> names);

    // Nothing: it cannot be asked for now.
    std::optional<ChangeState> change_state(const std::string& id);

    // The set that an endpoint from list() was made from, to the byte.
    Result<RecordSet> set_of_present(const dns::Endpoint& endpoint) const;
    Result<Work> work_of(const plan::ChangeGroup& group, std::size_t index) const;
    // Sends works as one batch, and without those that are refused as long as there are any.
    void send(std::vector<const Work*> works, std::vector<Outcome>& outcomes);
    ApiResult<ChangeInfo> change(const std::vector<const Work*>& works);

    Surroundings* surroundings_;
    Api api_;
    std::string key_, pinned_;
    bool private_zone_;
    Terms terms_;
    std::optional<HostedZone> zone_;
    std::vector<std::string> none_;
    // Sets that would not be written as they stand there: what others wrote in their own way.
    using SetKey = std::pair<std::string, std::pair<std::string, std::string>>;  // name, type, identifier
    std::map<SetKey, std::pair<dns::Endpoint, RecordSet>> foreign_;
};

}  // namespace fairlead::provider::route53
