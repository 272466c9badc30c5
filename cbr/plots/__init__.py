"""Plots: pictures of results, all in one style.

answer          the nearest cases of a query, the contribution of each feature, and the proposal
index_quality   recall of the indices against the time of a query
competence      the shares of cases that other cases predict, by solution
evaluation      calibration and confusion of predicted classes, residuals of predicted numbers
evolution       scores, spread, weights and convergence of an evolution run
style           figure, colours and axes; used by plugins' pictures as well
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
