// AWS's own names that a record set may be an alias of, and the hosted zones that they are in. Values that AWS
// publishes for load balancers, CloudFront, Global Accelerator, PrivateLink, API Gateway, S3 websites and Elastic
// Beanstalk. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace fairlead::provider::route53 {

struct AliasZone {
    std::string_view suffix, id;  // "us-east-1.elb.amazonaws.com", "Z35SXDOTRQ7X7K"
    // S3 websites and Elastic Beanstalk answer over IPv4 alone: an AAAA alias of theirs would have nothing to say.
    [[nodiscard]] bool ipv4_only() const {
        return suffix.starts_with("s3-website") || suffix.ends_with(".elasticbeanstalk.com");
    }
    // CloudFront and S3 take no part in health checks of targets the same way: Route 53 refuses it for CloudFront.
    [[nodiscard]] bool takes_health() const { return suffix != "cloudfront.net"; }
};

// The zone of a name in lower case without a dot at its end; nothing: it is none of AWS's.
std::optional<AliasZone> alias_zone_of(std::string_view name);

}  // namespace fairlead::provider::route53
