// Calls of the Query API of Elastic Load Balancing (2015-12-01): lists with all of their pages, tags in batches. Used
// by Elb, by several threads at once.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "aws/caller.h"
#include "elb/query.h"

namespace fairlead::elb {

template <class T>
using ApiResult = aws::CallResult<T>;

// As balancer::Provider tells errors.
Error told(const aws::CallError& error);

class Api {
public:
    explicit Api(aws::Caller caller) : caller_(std::move(caller)) {}

    // The answer's "...Result".
    ApiResult<aws::Element> call(const Query& query);
    // All members of the list of that name, of all pages.
    ApiResult<std::vector<aws::Element>> list(Query query, const std::string& name);
    // By ARN; what has gone meanwhile is left out.
    ApiResult<std::map<std::string, Tags>> tags(const std::vector<std::string>& arns);

private:
    ApiResult<void> tags_of_some(const std::vector<std::string>& arns, std::map<std::string, Tags>& into);

    aws::Caller caller_;
};

}  // namespace fairlead::elb
