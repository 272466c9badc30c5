"""Online retention: the cases that a bot adds while it plays.

observed_hands       a finished hand as one seat saw it, in the form of a log
session_cases        the cases of one session in memory, and retrieval among them
casebase_writer      the same hands written to a casebase file
combined_retrieval   a casebase's street together with the cases of a session
beginner             a bot that starts without cases (Casey, Sandven and Tessem 2006)
"""
